package double

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

func (s *Server) routeDocuments(c *call) (int, any, *failure) {
	col := s.resolve(c.parts[1])
	if col == nil {
		return 0, nil, fail(404, "Collection not found")
	}
	if len(c.parts) == 3 {
		switch c.r.Method {
		case http.MethodPost:
			return s.writeOne(col, c)
		case http.MethodDelete:
			return s.deleteMany(col, c.query)
		case http.MethodPatch:
			return 0, nil, s.unsupported("update by query")
		}
		return 0, nil, notFound()
	}
	switch c.r.Method + " " + c.parts[3] {
	case "POST import":
		return s.imports(col, c)
	case "GET export":
		return s.export(col, c.query)
	case "GET search":
		p := c.query
		if _, ok := p["q"]; !ok {
			return 0, nil, fail(400, "No search fields specified for the query.")
		}
		p["collection"] = col.name
		out, err := s.run(p)
		return 200, out, err
	}
	return s.routeDocument(col, c)
}

func (s *Server) routeDocument(col *collection, c *call) (int, any, *failure) {
	id := strings.Join(c.parts[3:], "/")
	if len(c.parts) > 4 {
		return 0, nil, notFound()
	}
	seq, ok := col.ids[id]
	switch c.r.Method {
	case http.MethodGet:
		if !ok {
			break
		}
		return 200, project(col.docs[seq].body, c.query.words("include_fields"), c.query.words("exclude_fields")), nil
	case http.MethodDelete:
		if !ok && c.query.flag("ignore_not_found", false) {
			return 200, map[string]any{"id": id}, nil
		}
		if !ok {
			break
		}
		body := col.docs[seq].body
		s.remove(col, seq)
		return 200, body, nil
	case http.MethodPatch:
		if !ok {
			break
		}
		return s.patch(col, id, c)
	default:
		return 0, nil, notFound()
	}
	return 0, nil, fail(404, "Could not find a document with id: "+id)
}

func (s *Server) patch(col *collection, id string, c *call) (int, any, *failure) {
	body, err := readBody(c.body)
	if err != nil {
		return 0, nil, err
	}
	body["id"] = encode(id)
	_, stored, err := s.write(col, encode(body), "update")
	return 200, stored, err
}

func (s *Server) writeOne(col *collection, c *call) (int, any, *failure) {
	action, err := s.action(c.query)
	if err != nil {
		return 0, nil, err
	}
	_, body, err := s.write(col, bytes.TrimSpace(c.body), action)
	return 201, body, err
}

// action reads the parameters of a write.
func (s *Server) action(p params) (string, *failure) {
	if v := p.text("dirty_values", "reject"); v != "reject" {
		s.violate("dirty_values=%s rewrites documents", v)
	}
	action := p.text("action", "create")
	if !slices.Contains([]string{"create", "update", "upsert", "emplace"}, action) {
		return "", fail(400, "Parameter `action` must be a create|update|upsert.")
	}
	return action, nil
}

// remove deletes a document and the rows that refer to it.
func (s *Server) remove(col *collection, seq uint32) {
	id := col.docs[seq].id
	col.remove(seq)
	for _, other := range s.collections {
		link := s.link(other, col)
		if link == nil {
			continue
		}
		for _, row := range link.referring(id) {
			s.remove(other, row)
		}
	}
}

// deleteMany deletes by filter. An empty filter deletes nothing.
func (s *Server) deleteMany(col *collection, p params) (int, any, *failure) {
	filter, ok := p["filter_by"]
	switch {
	case p.flag("truncate", false):
		filter = ""
	case !ok:
		return 0, nil, fail(400, "Parameter `filter_by` must be provided.")
	case strings.TrimSpace(filter) == "":
		return 200, map[string]any{"num_deleted": 0}, nil
	}
	f := &filtering{s: s, c: col, candidates: candidates, where: "delete"}
	docs, err := f.filter(filter)
	if err != nil {
		return 0, nil, err
	}
	ids := []string{}
	for _, seq := range docs.ToArray() {
		ids = append(ids, col.docs[seq].id)
		s.remove(col, seq)
	}
	out := map[string]any{"num_deleted": len(ids)}
	if p.flag("return_id", false) {
		out["ids"] = ids
	}
	return 200, out, nil
}

// export gives the documents of a filter as lines, oldest first.
func (s *Server) export(col *collection, p params) (int, any, *failure) {
	f := &filtering{s: s, c: col, candidates: candidates, where: "export"}
	docs, err := f.filter(p["filter_by"])
	if err != nil {
		return 0, nil, err
	}
	include, exclude := p.words("include_fields"), p.words("exclude_fields")
	var out bytes.Buffer
	for it := docs.Iterator(); it.HasNext(); {
		if out.Len() > 0 {
			out.WriteByte('\n')
		}
		out.Write(encode(project(col.docs[it.Next()].body, include, exclude)))
	}
	return 200, jsonl(out.Bytes()), nil
}

// imports stores the lines of a body. Blank lines give no line of the answer.
func (s *Server) imports(col *collection, c *call) (int, any, *failure) {
	action, err := s.action(c.query)
	if err != nil {
		return 0, nil, err
	}
	if size, err := c.query.number("batch_size", 40); err != nil || size == 0 {
		return 0, nil, fail(400, "Parameter `batch_size` must be a positive integer.")
	}
	var out [][]byte
	for line := range bytes.SplitSeq(c.body, []byte("\n")) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		verdict, err := s.importLine(col, c, line, action)
		if err != nil {
			return 0, nil, err
		}
		out = append(out, verdict)
	}
	return 200, jsonl(bytes.Join(out, []byte("\n"))), nil
}

// importLine stores one line and gives its verdict; only what kills a server
// is a failure.
func (s *Server) importLine(col *collection, c *call, line []byte, action string) ([]byte, *failure) {
	id, body, err := "", map[string]json.RawMessage(nil), c.fault.reject(line)
	if err == nil {
		id, body, err = s.write(col, line, action)
	}
	verdict := map[string]any{"success": err == nil}
	if err != nil {
		if err.code == dropped {
			return nil, err
		}
		verdict["code"], verdict["error"] = err.code, err.message
	}
	if id != "" && c.query.flag("return_id", false) {
		verdict["id"] = id
	}
	if c.query.flag("return_doc", false) {
		verdict["document"] = string(line)
		if err == nil {
			verdict["document"] = body
		}
	}
	return encode(verdict), nil
}
