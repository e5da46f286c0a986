package typesense

import (
	"fmt"
)

// Limits gives what this engine bounds or answers in another way than the
// embedded one, by the name of a clause, an
// aggregation (behind "aggs." where a clause has it too) or an option, in words
// for the manual. What is beyond a limit is refused.
func Limits() map[string]string {
	terms := fmt.Sprintf("the field has at most %d different values", maxTerms)
	texts := fmt.Sprintf("%s; of a text, at most %d documents have it", terms, maxSources)
	read := fmt.Sprintf("at most %d documents", maxSources)
	candidates := fmt.Sprintf("at most %d documents hold all of the words", maxSources)
	return map[string]string{
		"wildcard": texts, "regexp": texts, "range (strings)": terms, "term (case_insensitive)": texts,
		"prefix": "the prefix has at most about 100 characters", "fuzzy": texts, "match (fuzziness)": texts,
		"match_phrase": candidates, "match_phrase_prefix": candidates, "query_string": "as the clauses that it stands for", "simple_query_string": "as the clauses that it stands for",
		"geo_distance": terms, "geo_bounding_box": terms,
		"nested":                    fmt.Sprintf("at most %d documents match a second nested clause, one with a prefix or one of more than %d bytes", maxIDs, maxJoin),
		"bool":                      fmt.Sprintf("parts beyond %d conditions match at most %d documents", maxConditions, maxIDs),
		"function_score":            "with min_score or ordered by it: " + read,
		"min_score":                 read + " match without it",
		"aggs.terms":                fmt.Sprintf("the field has at most %d different values", maxDistinct),
		"histogram":                 fmt.Sprintf("over a field with several values at most %d buckets", maxHistogram),
		"date_histogram":            fmt.Sprintf("over a field with several values at most %d buckets", maxHistogram),
		"composite":                 read + " in the bucket around it",
		"top_hits":                  "by score, in nested objects or by sorts that the server cannot do: " + read + " in a bucket",
		"sub-aggregations":          fmt.Sprintf("at most %d searches of the server for one request", maxQuestions),
		"collapse":                  read,
		"sort":                      fmt.Sprintf("at most 3 keys of one kind each, without nested, mode sum or avg, or a value for missing; others with at most %d hits", maxSources),
		"sort by _score":            fmt.Sprintf("above %d hits approximate: each clause adds the same to all that it matches", maxSources),
		"sort by _geo_distance":     read,
		"search_after":              "as the sort",
		"scroll":                    "shows documents as they are when their page is read; the order is the engine's own",
		"sum, avg (repeated value)": fmt.Sprintf("at most %d documents with a number twice in one field", maxSources),
	}
}
