package event

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Object gives the JSON Schema of an object whose members are all there, each
// written as "name type": "ouuid string", "old_index string|null". Further
// members may be added in later versions.
func Object(members ...string) json.RawMessage {
	var properties, required bytes.Buffer
	for i, m := range members {
		name, kinds, _ := strings.Cut(m, " ")
		if i > 0 {
			properties.WriteByte(',')
			required.WriteByte(',')
		}
		quoted, _ := json.Marshal(name) // a string always marshals
		properties.Write(quoted)
		properties.WriteByte(':')
		properties.WriteString(typeOf(kinds))
		required.Write(quoted)
	}
	return json.RawMessage(`{"type":"object","properties":{` + properties.String() + `},"required":[` + required.String() + `]}`)
}

// typeOf is the schema of "string", "string|null" or "[string]".
func typeOf(kinds string) string {
	if of, list := strings.CutPrefix(kinds, "["); list {
		return `{"type":"array","items":` + typeOf(strings.TrimSuffix(of, "]")) + `}`
	}
	list := strings.Split(kinds, "|")
	if len(list) == 1 {
		return `{"type":"` + kinds + `"}`
	}
	return `{"type":["` + strings.Join(list, `","`) + `"]}`
}
