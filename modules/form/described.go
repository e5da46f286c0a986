package form

// The types here describe bodies that are read and written member by member,
// for the API document.
type (
	submissionIn struct {
		FormName string         `json:"form_name" doc:"name of the form"`
		Instance string         `json:"instance" doc:"instance of the form"`
		Locale   string         `json:"locale" doc:"language of the form"`
		Data     map[string]any `json:"data" doc:"what was filled in; a list will do"`
		Label    string         `json:"label,omitempty" doc:"what people call the submission"`
		Expire   string         `json:"expire_date,omitempty" doc:"a day such as 2026-12-31, from which on it is deleted; of a time it is the day that is written there"`
		Files    []fileIn       `json:"files,omitempty" doc:"files that came with it"`
	}
	fileIn struct {
		Filename  string `json:"filename"`
		MimeType  string `json:"mimeType"`
		Base64    string `json:"base64" doc:"the bytes"`
		Size      string `json:"size" doc:"number of bytes; a number will do"`
		FormField string `json:"form_field" doc:"field of the form"`
	}
	submissionOut struct {
		ID        string     `json:"id"`
		Created   string     `json:"created"`
		Modified  string     `json:"modified"`
		Name      string     `json:"name" doc:"name of the form"`
		Instance  string     `json:"instance"`
		Locale    string     `json:"locale"`
		Data      any        `json:"data" doc:"what was filled in; null when it was processed"`
		Label     string     `json:"label"`
		Tries     int        `json:"processTryCounter" doc:"how often it was claimed"`
		ProcessID *string    `json:"processId" doc:"of the claim"`
		ProcessBy *string    `json:"processBy" doc:"who claimed it"`
		Expire    string     `json:"expireDate,omitempty"`
		Files     []fileView `json:"files,omitempty"`
		URLs      []string   `json:"file_urls,omitempty" doc:"addresses after the pattern of fileUrl"`
	}
	submitted struct {
		ID         string        `json:"submission_id"`
		Submission submissionOut `json:"submission"`
	}
	claimAnswer struct {
		Acknowledged bool           `json:"acknowledged"`
		Success      bool           `json:"success"`
		Submission   *submissionOut `json:"submission" doc:"null when there is none to claim"`
	}
	submissionPage struct {
		Submissions []submissionOut `json:"submissions" nullable:"false"`
		Next        *int64          `json:"next" doc:"after of the next call; null at the end"`
	}
)
