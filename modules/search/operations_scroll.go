package search

import (
	"context"
	"net/http"

	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/web"
)

const scrollDoc = "The answer is that of a search with a member _scroll_id, and hits.total in every page; a page without hits is the end. " +
	"All pages show one moment: what was there when the scroll was opened, in the order of the index; sort and from do not matter. " +
	"With search.engine typesense the id stands for one page, so take it from the last answer; a page shows documents as they are then, and every replica can give it. " +
	"expire-time (30s, 3m, 1h; by default 3m) is how long the next call may take. A scroll belongs to the user who opened it and shows what that user may view at the time of each page. "

// scrolling are the endpoints of scrolls.
func scrolling(s *Service) []web.Operation {
	return []web.Operation{
		web.Op(web.Operation{
			ID: "search-init-scroll", Method: http.MethodPost, Path: "/api/search/init-scroll", Tag: tag, MaxBody: int64(s.cfg.MaxRequest),
			Summary: "Open a scroll and read its first page", Errors: []int{400, 404, 413, 429, 503},
			Takes: web.Media{Of: scrollBody{}}, Answers: web.Media{Of: scrollPage{}},
			Doc: `The body is {"search":"…","expire-time":"3m"}, the search as for POST /api/search/search. ` + scrollDoc + "429: too many scrolls are open.",
		}, func(ctx context.Context, in *body) (*web.Raw, error) {
			p := parse(in.RawBody)
			text, expire := p.search(), p.text("expire-time")
			if p.err != nil {
				return nil, p.err
			}
			id, out, err := s.InitScroll(ctx, text, expire)
			if err != nil {
				return nil, err
			}
			return web.JSON(appendPage(id, out))
		}),
		web.Op(web.Operation{
			ID: "search-next-scroll", Method: http.MethodPost, Path: "/api/search/next-scroll", Tag: tag,
			Summary: "Read the next page of a scroll", Errors: []int{400, 404, 503},
			Takes: web.Media{Of: nextBody{}}, Answers: web.Media{Of: scrollPage{}},
			Doc: `The body is {"scroll-id":"…","expire-time":"3m"}. ` + scrollDoc + "404: the scroll has expired, or is not one of this user.",
		}, func(ctx context.Context, in *body) (*web.Raw, error) {
			p := parse(in.RawBody)
			id, expire := p.nameOf("scroll-id", 2*maxScrollID), p.text("expire-time")
			if p.err != nil {
				return nil, p.err
			}
			id, out, err := s.NextScroll(ctx, id, expire)
			if err != nil {
				return nil, err
			}
			return web.JSON(appendPage(id, out))
		}),
	}
}

// appendPage renders a page of a scroll: _scroll_id, then the answer.
func appendPage(id string, out *search.Response) []byte {
	size := 512
	for i := range out.Hits {
		size += len(out.Hits[i].Source) + 256
	}
	b := rawjson.AppendString(append(make([]byte, 0, size), `{"_scroll_id":`...), id)
	brace := len(b)
	b = out.AppendJSON(b)
	b[brace] = ','
	return b
}
