package plugin

import (
	"bytes"
	"fmt"

	pluginv1 "github.com/quoin-cms/quoin/sdk/proto/plugin/v1"
)

type command struct {
	about *pluginv1.Command
	run   func(c *Call, args []string) error
}

// Command adds a command: quoin plugin run PLUGIN NAME ARGS. usage names its
// arguments, such as "TYPE [OUUID]". What it writes with Call.Print is its
// output.
func (p *Plugin) Command(name, usage, short string, run func(c *Call, args []string) error) {
	if p.commands[name] != nil {
		panic(fmt.Sprintf("plugin %s has two commands %q", p.name, name))
	}
	p.commands[name] = &command{about: &pluginv1.Command{Name: name, Usage: usage, Short: short}, run: run}
}

// commandServer serves quoin.plugin.v1.Commands.
type commandServer struct {
	pluginv1.UnimplementedCommandsServer
	p *Plugin
}

// Run implements pluginv1.CommandsServer.
func (s commandServer) Run(req *pluginv1.RunRequest, stream pluginv1.Commands_RunServer) error {
	cmd := s.p.commands[req.Command]
	if cmd == nil {
		return errUnknown("command", req.Command)
	}
	c := s.p.call(stream.Context(), req.Caller)
	c.print = func(line []byte) error {
		return stream.Send(&pluginv1.RunOutput{Line: string(bytes.ToValidUTF8(line, []byte("?")))})
	}
	if err := protect(func() error { return cmd.run(c, req.Args) }); err != nil {
		return failed(c, "command "+req.Command, err)
	}
	return nil
}
