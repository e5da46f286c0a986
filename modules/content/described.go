package content

import "github.com/quoin-cms/quoin/core/web"

// The types here describe answers that are put together from stored JSON, for
// the API document.
type (
	written struct {
		Acknowledged     bool     `json:"acknowledged" doc:"always true"`
		Success          bool     `json:"success" doc:"false when the document breaks its content type: see error"`
		OUUID            string   `json:"ouuid" doc:"identifier of the document"`
		Type             string   `json:"type" doc:"name of the content type"`
		RevisionID       int64    `json:"revision_id,omitempty" doc:"id of the revision that was made or is meant"`
		AlreadyPublished bool     `json:"already-published,omitempty" doc:"the revision was in the environment before"`
		WasPublished     bool     `json:"was-published,omitempty" doc:"the document was in the environment before"`
		Notice           []string `json:"notice,omitempty" nullable:"false" doc:"what is worth knowing"`
		Warning          []string `json:"warning,omitempty" nullable:"false" doc:"what does not hinder"`
		Error            []string `json:"error,omitempty" nullable:"false" doc:"findings, each with the path of the field"`
	}
	readAnswer struct {
		Acknowledged bool           `json:"acknowledged" doc:"always true"`
		Success      bool           `json:"success" doc:"always true"`
		Revision     map[string]any `json:"revision" doc:"the document: its fields, and what the system adds, whose names begin with _"`
		OUUID        string         `json:"ouuid" doc:"identifier of the document"`
		ID           int64          `json:"id" doc:"id of the revision"`
	}
	revisionAnswer struct {
		Acknowledged bool           `json:"acknowledged" doc:"always true"`
		Success      bool           `json:"success" doc:"always true"`
		Revision     map[string]any `json:"revision" doc:"the document as it was"`
		RevisionInfo
	}
	bulkResult struct {
		Line       int      `json:"line" doc:"number of the line, from 1"`
		Success    bool     `json:"success"`
		Status     int      `json:"status" doc:"what the same call alone would have been answered with"`
		OUUID      string   `json:"ouuid,omitempty" doc:"identifier of the document"`
		RevisionID int64    `json:"revision_id,omitempty" doc:"id of the revision that was made"`
		Error      []string `json:"error,omitempty" nullable:"false" doc:"what was wrong with the line"`
	}
	exportForm struct {
		Class      string         `json:"class,omitempty" doc:"class of the entity in elasticms; may be missing"`
		Arguments  []any          `json:"arguments,omitempty" doc:"of no meaning here"`
		Properties map[string]any `json:"properties" doc:"what the entity consists of"`
		Replaced   []any          `json:"replaced,omitempty" doc:"of no meaning here"`
	}
)

func documentBody() web.Media {
	return web.Media{Of: map[string]any{}, Doc: "the fields of the document"}
}

func writeAnswer() web.Media { return web.Media{Of: written{}} }
