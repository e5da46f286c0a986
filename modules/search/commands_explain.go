package search

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/core/search"
)

func explainCommand() module.Command {
	return module.Cmd(module.Command{
		Use: "search explain OBJECT", Local: true, Short: "Tell how a search is understood, how it is run, and what is refused", Args: [2]int{1, 1},
		Long: "OBJECT is a search object as POST /api/search/search takes it, or the body of such a request: the JSON itself, the name of a file, or - for standard input. " +
			"The running server explains it over its documents; without one an index is made for it. The plan of the other engine is made with some documents of each content type, and says what it does not know. The command fails when the engine in force refuses something.",
	}, runExplain)
}

func runExplain(ctx context.Context, s *Service, call *module.Call) error {
	text, err := searchObject(call, int64(s.cfg.MaxRequest))
	if err != nil {
		return err
	}
	x, err := s.explainAnywhere(module.Operator(ctx), text)
	if err != nil {
		return advise(err)
	}
	if call.JSON {
		err = call.Table(x, nil, nil)
	} else {
		_, err = io.WriteString(call.Out, x.text())
	}
	refused := len(x.Refused)
	if len(x.Engines) > 0 {
		refused += len(x.Engines[0].Refused)
	}
	if err == nil && refused > 0 {
		err = errors.New("the search is refused")
	}
	return err
}

// searchObject reads the argument of the command.
func searchObject(call *module.Call, most int64) ([]byte, error) {
	given := call.Args[0]
	in := call.In
	switch {
	case strings.HasPrefix(strings.TrimSpace(given), "{"):
		in = strings.NewReader(given)
	case given != "-":
		f, err := os.Open(given)
		if err != nil {
			return nil, fmt.Errorf("%w (give JSON, the name of a file, or - for standard input)", err)
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, most+1))
	if err != nil {
		return nil, fmt.Errorf("read the search: %w", err)
	}
	if int64(len(text)) > most {
		return nil, fmt.Errorf("the search is longer than %d bytes (search.max_request)", most)
	}
	if rawjson.CheckObject(text, rawjson.Limits{Depth: 400}) == nil { // else the parser says what is wrong
		if inner, ok := rawjson.Get(text, "search"); ok {
			if s, ok := rawjson.String(inner); ok {
				return []byte(s), nil
			}
		}
	}
	return text, nil
}

// text is the explanation for people.
func (x *Explanation) text() string {
	var b strings.Builder
	refusals(&b, "", x.Refused)
	if x.Tree != nil {
		b.WriteString("Understood as\n")
		x.Tree.Write(&b, "  ")
	}
	for _, w := range x.Warnings {
		fmt.Fprintf(&b, "Left out: %s\n", w)
	}
	for _, plan := range x.Engines {
		fmt.Fprintf(&b, "\nRun by the engine %s on %s\n", plan.Engine, strings.Join(x.Indices, ", "))
		if plan.Note != "" {
			fmt.Fprintf(&b, "  (%s)\n", plan.Note)
		}
		steps(&b, "  ", plan.Steps)
		refusals(&b, "  ", plan.Refused)
	}
	if x.Note != "" {
		fmt.Fprintf(&b, "\nNote: %s.\n", x.Note)
	}
	return b.String()
}

func refusals(b *strings.Builder, indent string, list []search.Refusal) {
	for _, r := range list {
		if r.Path != "" {
			r.Path += ": "
		}
		fmt.Fprintf(b, "%sREFUSED %s%s\n", indent, r.Path, r.Message)
	}
}

func steps(b *strings.Builder, indent string, list []search.Step) {
	for i, s := range list {
		fmt.Fprintf(b, "%s%d. ", indent, i+1)
		if s.Role != "" {
			b.WriteString(s.Role + ": ")
		}
		if s.Clause != "" {
			b.WriteString(s.Clause + " ")
		}
		b.WriteString(s.Does)
		if s.Matches != nil {
			fmt.Fprintf(b, " → %d", *s.Matches)
		}
		b.WriteByte('\n')
		if len(s.Fields) > 0 {
			fmt.Fprintf(b, "%s   fields: %s\n", indent, strings.Join(s.Fields, ", "))
		}
		if len(s.Terms) > 0 {
			fmt.Fprintf(b, "%s   terms: %s", indent, strings.Join(s.Terms, " "))
			if s.MoreTerms > 0 {
				fmt.Fprintf(b, " and %d more", s.MoreTerms)
			}
			b.WriteByte('\n')
		}
		steps(b, indent+"   ", s.Steps)
	}
}
