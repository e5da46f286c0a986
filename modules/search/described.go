package search

// The types here describe bodies that are read member by member and answers
// that are put together from stored JSON, for the API document.
type (
	searchBody struct {
		Search string `json:"search" doc:"the search object as a JSON string"`
	}
	lookupBody struct {
		Index    string   `json:"index" doc:"index or alias"`
		Type     *string  `json:"content-type,omitempty" doc:"content type; null for any"`
		OUUID    string   `json:"ouuid" doc:"identifier of the document"`
		Includes []string `json:"source-includes,omitempty" doc:"fields to answer; all when empty"`
		Excludes []string `json:"source-excludes,omitempty" doc:"fields to leave out"`
	}
	lookupAnswer struct {
		Source map[string]any `json:"_source" doc:"the document"`
		ID     string         `json:"_id" doc:"its identifier"`
		Index  string         `json:"_index" doc:"where it was found"`
	}
	indexBody struct {
		Index string `json:"index" doc:"index or alias"`
	}
	aliasBody struct {
		Alias string `json:"alias" doc:"alias of an environment, or a managed one"`
	}
	aliasesBody struct {
		Aliases []string `json:"aliases" doc:"aliases"`
	}
	wordsBody struct {
		Index    string   `json:"index" doc:"index or alias"`
		Analyzer string   `json:"analyzer" doc:"name of the analyzer"`
		Words    []string `json:"words" doc:"10,000 at most"`
	}
	analyzeBody struct {
		Index      string         `json:"index,omitempty" doc:"index or alias"`
		Text       string         `json:"text" doc:"what is analyzed"`
		Parameters map[string]any `json:"parameters,omitempty" doc:"analyzer, field, or tokenizer with filter and char_filter"`
	}
	analyzed struct {
		Tokens []token `json:"tokens" nullable:"false"`
	}
	token struct {
		Token    string `json:"token"`
		Start    int    `json:"start_offset"`
		End      int    `json:"end_offset"`
		Type     string `json:"type"`
		Position int    `json:"position"`
	}
	scrollBody struct {
		Search string `json:"search" doc:"the search object as a JSON string"`
		Expire string `json:"expire-time,omitempty" default:"3m" doc:"how long the next call may take"`
	}
	nextBody struct {
		ID     string `json:"scroll-id" doc:"_scroll_id of the last page"`
		Expire string `json:"expire-time,omitempty" default:"3m" doc:"how long the next call may take"`
	}
	scrollPage struct {
		ScrollID string `json:"_scroll_id" doc:"for the next page"`
		Found
	}
)

// Found is the answer of a search, in the form of Elasticsearch.
type Found struct {
	Took     int            `json:"took" doc:"milliseconds"`
	TimedOut bool           `json:"timed_out" doc:"always false"`
	Shards   shards         `json:"_shards" doc:"counts indexes"`
	Hits     hits           `json:"hits"`
	Aggs     map[string]any `json:"aggregations,omitempty" doc:"results by the names of the aggregations"`
	Suggest  map[string]any `json:"suggest,omitempty" doc:"suggestions by their names"`
}

type shards struct {
	Total      int `json:"total"`
	Successful int `json:"successful"`
	Skipped    int `json:"skipped"`
	Failed     int `json:"failed"`
}

type hits struct {
	Total    *total   `json:"total,omitempty" doc:"missing when the search does not want it"`
	MaxScore *float64 `json:"max_score" doc:"null when the hits are sorted by fields"`
	Hits     []hitOut `json:"hits" nullable:"false"`
}

type total struct {
	Value    int64  `json:"value"`
	Relation string `json:"relation" enum:"eq,gte" doc:"gte: there are more"`
}

type hitOut struct {
	Index     string              `json:"_index"`
	ID        string              `json:"_id" doc:"identifier of the document"`
	Score     *float64            `json:"_score" doc:"null when the hits are sorted by fields"`
	Source    any                 `json:"_source" doc:"the fields that were asked for"`
	Fields    map[string]any      `json:"fields,omitempty" doc:"the value by which hits are collapsed"`
	Highlight map[string][]string `json:"highlight,omitempty" doc:"fragments by field"`
	Sort      []any               `json:"sort,omitempty" doc:"for search_after"`
	Inner     map[string]any      `json:"inner_hits,omitempty" doc:"hits inside of the document"`
}
