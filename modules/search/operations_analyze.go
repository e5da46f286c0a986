package search

import (
	"context"
	"net/http"

	"github.com/quoin-cms/quoin/core/web"
)

// filteredAnswer is the answer of filter-stop-words.
type filteredAnswer struct {
	Filtered []string `json:"filtered" nullable:"false"`
}

// analyzing are the endpoints about analyzers.
func analyzing(s *Service) []web.Operation {
	return []web.Operation{
		web.Op(web.Operation{
			ID: "search-analyze", Method: http.MethodPost, Path: "/api/search/analyze", Tag: tag, MaxBody: 8 << 20, // each byte may be escaped
			Summary: "Show the tokens of a text", Errors: []int{400, 404, 413, 503},
			Takes: web.Media{Of: analyzeBody{}}, Answers: web.Media{Of: analyzed{}},
			Doc: `The body is {"index":…,"text":"…","parameters":{"analyzer":…}}; index may be missing. Instead of an analyzer the parameters may name a field, or a tokenizer with filter and char_filter, by their names. ` +
				"The answer is {\"tokens\":[{\"token\",\"start_offset\",\"end_offset\",\"type\",\"position\"}]}; offsets count UTF-16 units, as in Elasticsearch. A text has 1 MiB and 200,000 tokens at most, 64 KiB for n-grams and the like.",
		}, func(ctx context.Context, in *body) (*web.Raw, error) {
			p := parse(in.RawBody)
			index, text := p.text("index"), p.textOf("text", maxAnalyzed)
			if _, ok := p.get("text"); !ok {
				p.fail("text", "is missing")
			}
			a := p.parameters()
			if p.err != nil {
				return nil, p.err
			}
			tokens, err := s.Analyze(ctx, index, text, a)
			if err != nil {
				return nil, err
			}
			return web.JSON(appendTokens(make([]byte, 0, 64+80*len(tokens)), text, tokens))
		}),
		web.Op(web.Operation{
			ID: "search-filter-stop-words", Method: http.MethodPost, Path: "/api/search/filter-stop-words", Tag: tag, MaxBody: int64(s.cfg.MaxRequest),
			Summary: "Leave out the words that an analyzer drops", Errors: []int{400, 404, 413, 503}, Takes: web.Media{Of: wordsBody{}},
			Doc: `The body is {"index":…,"analyzer":…,"words":[…]}, at most 10,000 words; the answer has those that still give a token.`,
		}, func(ctx context.Context, in *body) (*web.Reply[filteredAnswer], error) {
			p := parse(in.RawBody)
			index, analyzer, words := p.name("index"), p.name("analyzer"), p.listOf(maxWords, "words")
			if p.err != nil {
				return nil, p.err
			}
			kept, err := s.FilterWords(ctx, index, analyzer, words)
			if err != nil {
				return nil, err
			}
			return web.Answer(filteredAnswer{kept})
		}),
	}
}
