package job

import "github.com/quoin-cms/quoin/core/web"

// The types here describe bodies that are read member by member, for the API
// document.
type (
	jobOrder struct {
		Command string `json:"command" doc:"what is to be done"`
		Tag     string `json:"tag,omitempty" doc:"leaves the job to a worker outside"`
		Retries int    `json:"retries,omitempty" doc:"how often it is tried again after it failed"`
		Lost    string `json:"lost,omitempty" enum:"requeue,fail" doc:"what becomes of it when its worker falls silent"`
	}
	jobExport struct {
		Class      string         `json:"class,omitempty" doc:"class of the entity in elasticms; may be missing"`
		Arguments  []any          `json:"arguments,omitempty" doc:"of no meaning here"`
		Properties map[string]any `json:"properties" doc:"command, tag, and of a job that is there its facts"`
		Replaced   []any          `json:"replaced,omitempty" doc:"of no meaning here"`
	}
	jobMessage struct {
		Message  string `json:"message,omitempty" doc:"appended to the output"`
		NewLine  bool   `json:"new-line,omitempty" doc:"adds a line break"`
		Offset   *int64 `json:"offset,omitempty" doc:"bytes that the output had before"`
		ExitCode *int   `json:"exit_code,omitempty" doc:"of a job that ends"`
		Claim    string `json:"claim,omitempty" doc:"instead of the header X-Job-Claim"`
	}
)

func takes(o web.Operation, body any) web.Operation {
	o.Takes = web.Media{Of: body}
	return o
}

func answersWith(o web.Operation, body any) web.Operation {
	o.Answers = web.Media{Of: body}
	return o
}
