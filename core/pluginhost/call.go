package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/telemetry"
	pluginv1 "github.com/quoin-cms/quoin/sdk/proto/plugin/v1"
)

// call runs fn on the plugin when it is ready, within its limits. Its errors are
// problems.
func (s *supervised) call(ctx context.Context, within time.Duration, fn func(ctx context.Context, p *process) error) error {
	proc, _ := s.current()
	if proc == nil {
		return busy("the plugin "+s.name+" is not ready", time.Second)
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	ctx, span := telemetry.Step(ctx, "plugin", telemetry.Calls)
	if span.Recorded() {
		span.Name("plugin " + s.name)
		span.Text("quoin.plugin", s.name)
	}
	leave, err := s.gate.enter(ctx)
	if err == nil {
		err = fn(ctx, proc)
		leave(err)
		err = fromPlugin(s.name, err)
	}
	span.End(err)
	return err
}

// offering finds the ready plugin that offers something.
func (h *Host) offering(has func(d *pluginv1.Description) bool) *supervised {
	for _, s := range h.all() {
		if p, _ := s.current(); p != nil && has(p.about) {
			return s
		}
	}
	return nil
}

// tools is the port.ToolSource of the plugins.
type tools struct{ *Host }

// SourceName implements port.ToolSource.
func (tools) SourceName() string { return "plugins" }

// Tools implements port.ToolSource: those of the plugins that are ready.
func (t tools) Tools(ctx context.Context) ([]port.Tool, error) {
	if auth.From(ctx) == nil {
		return nil, nil
	}
	var list []port.Tool
	for _, s := range t.all() {
		p, _ := s.current()
		if p == nil {
			continue
		}
		for _, tool := range p.about.Tools {
			list = append(list, port.Tool{
				Name: PublicName(s.name, tool.Name), Title: tool.Title, Description: tool.Description, Input: tool.InputSchema,
				ReadOnly: tool.ReadOnly, Destructive: tool.Destructive && !tool.ReadOnly, OpenWorld: true,
			})
		}
	}
	return list, nil
}

// WatchTools implements port.ToolSource.
func (t tools) WatchTools(changed func()) { t.Watch(changed) }

// ToolRefused implements port.ToolRefusals: quoin plugin list tells.
func (t tools) ToolRefused(name, why string) {
	s := t.offering(func(d *pluginv1.Description) bool {
		return slices.ContainsFunc(d.Tools, func(tool *pluginv1.Tool) bool { return PublicName(d.Name, tool.Name) == name })
	})
	if s != nil && s.remark(fmt.Sprintf("the tool %s is offered to nobody: %s", name, why)) {
		t.told(s)
	}
}

// remark adds to the reason of a plugin that runs; false when it is there
// already, or the plugin is down.
func (s *supervised) remark(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == nil || strings.Contains(s.reason, text) || len(s.reason) > 2000 {
		return false
	}
	if s.reason != "" {
		text = s.reason + "; " + text
	}
	s.reason = text
	return true
}

// CallTool implements port.ToolSource.
func (t tools) CallTool(ctx context.Context, c port.ToolCall) (*port.ToolResult, error) {
	own := ""
	s := t.offering(func(d *pluginv1.Description) bool {
		for _, tool := range d.Tools {
			if PublicName(d.Name, tool.Name) == c.Name {
				own = tool.Name
				return true
			}
		}
		return false
	})
	if s == nil || auth.From(ctx) == nil {
		p := problem.New(problem.NotFound, "there is no tool %.100q", c.Name)
		p.Code = port.UnknownTool
		return nil, p
	}
	var result *pluginv1.ToolResult
	err := s.call(ctx, t.config.CallTimeout, func(ctx context.Context, p *process) (err error) {
		from, end := p.calls.begin(ctx)
		defer end()
		result, err = callTool(ctx, p, &pluginv1.ToolRequest{Caller: from, Tool: own, Arguments: c.Arguments}, c.Progress)
		return err
	})
	if err != nil {
		return nil, err
	}
	answer := &port.ToolResult{Structured: result.Structured, Failed: result.Failed}
	for _, part := range result.Content {
		answer.Content = append(answer.Content, port.ToolContent{Text: part.Text, Data: part.Data, MIME: part.MimeType})
	}
	return answer, nil
}

// maxParts bounds how often a tool may tell its progress.
const maxParts = 10_000

func callTool(ctx context.Context, p *process, req *pluginv1.ToolRequest, progress func(done, total float64, message string)) (*pluginv1.ToolResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := p.tools.Call(ctx, req)
	if err != nil {
		return nil, err
	}
	for range maxParts {
		part, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil, problem.New(problem.Internal, "the plugin answered without a result")
		}
		if err != nil {
			return nil, err
		}
		if r := part.GetResult(); r != nil {
			return r, nil
		}
		if pr := part.GetProgress(); pr != nil && progress != nil {
			progress(pr.Done, pr.Total, cut(pr.Message, 1000))
		}
	}
	return nil, problem.New(problem.Internal, "the plugin tells its progress without end")
}

// RunCommand runs a command of a plugin with the rights of the identity of ctx;
// line gets its output.
func (h *Host) RunCommand(ctx context.Context, plugin, command string, args []string, line func(string) error) error {
	h.mu.Lock()
	s := h.plugins[plugin]
	h.mu.Unlock()
	if s == nil {
		return problem.New(problem.NotFound, "the plugin %.60q does not run here (quoin plugin list)", plugin)
	}
	return s.call(ctx, maxCommand, func(ctx context.Context, p *process) error {
		return runCommand(ctx, p, command, args, line)
	})
}

const (
	maxCommand = 24 * time.Hour
	maxOutput  = 64 << 20 // bytes
)

func runCommand(ctx context.Context, p *process, command string, args []string, line func(string) error) error {
	if !slices.ContainsFunc(p.about.Commands, func(c *pluginv1.Command) bool { return c.Name == command }) {
		return problem.New(problem.NotFound, "the plugin %s has no command %.60q", p.about.Name, command)
	}
	from, end := p.calls.begin(ctx)
	defer end()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := p.commands.Run(ctx, &pluginv1.RunRequest{Caller: from, Command: command, Args: args})
	if err != nil {
		return err
	}
	for size := 0; ; {
		out, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if size += len(out.Line) + 1; size > maxOutput {
			return problem.New(problem.TooLarge, "the command wrote more than %d MiB", maxOutput>>20)
		}
		if err := line(out.Line); err != nil {
			return err
		}
	}
}
