package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	hashi "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/quoin-cms/quoin/sdk/manifest"
	"github.com/quoin-cms/quoin/sdk/plugin"
	pluginv1 "github.com/quoin-cms/quoin/sdk/proto/plugin/v1"
)

// process is a plugin that runs. A new start makes a new one.
type process struct {
	client *hashi.Client
	conn   *grpc.ClientConn
	pid    int
	keeper *keeper
	temp   string // its folder for sockets and temporary files
	output *output
	about  *pluginv1.Description
	calls  *callers
	host   *grpc.Server // serves it; nil before Configure

	lifecycle pluginv1.LifecycleClient
	tools     pluginv1.ToolsClient
	resources pluginv1.ResourcesClient
	events    pluginv1.EventsClient
	webhooks  pluginv1.WebhooksClient
	commands  pluginv1.CommandsClient
}

// tempPrefix is followed by the id of the host's process, so that a later host
// can tell what a dead one left behind.
const tempPrefix = "quoin-plugin-"

// bridge takes the connection from go-plugin.
type bridge struct{ hashi.NetRPCUnsupportedPlugin }

// GRPCServer implements hashi.GRPCPlugin; the host has no use for it.
func (bridge) GRPCServer(*hashi.GRPCBroker, *grpc.Server) error {
	return errors.New("this side calls")
}

// GRPCClient implements hashi.GRPCPlugin.
func (bridge) GRPCClient(_ context.Context, _ *hashi.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return conn, nil
}

// launch starts the program and asks what it is. The caller must keep its
// goroutine on its thread for as long as the plugin is to live (see dieWithParent).
func launch(ctx context.Context, c *Config, name, path string, prog manifest.Program, log *slog.Logger) (p *process, err error) {
	temp, err := os.MkdirTemp("", tempPrefix+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return nil, err
	}
	p = &process{temp: temp, output: newOutput(log, c.LogRate), calls: newCallers()}
	if err = p.launch(ctx, c, name, path, prog); err != nil {
		p.kill()
		for _, line := range p.output.lastLines() {
			log.Error("last words of the plugin", "line", line)
		}
		return nil, err
	}
	return p, nil
}

func (p *process) launch(ctx context.Context, c *Config, name, path string, prog manifest.Program) (err error) {
	cmd := command(path, prog, p.temp, c)
	p.keeper = guard(cmd)
	p.client = hashi.NewClient(&hashi.ClientConfig{
		HandshakeConfig: plugin.Handshake(), Plugins: hashi.PluginSet{"quoin": bridge{}}, Cmd: cmd,
		AllowedProtocols: []hashi.Protocol{hashi.ProtocolGRPC}, AutoMTLS: true, SkipHostEnv: true,
		StartTimeout: c.StartWithin, Logger: hclog.NewNullLogger(), Stderr: p.output, SyncStdout: io.Discard, SyncStderr: io.Discard,
		GRPCDialOptions: append(tracing(), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(plugin.MaxMessage), grpc.MaxCallSendMsgSize(plugin.MaxMessage))),
	})
	_, err = p.client.Start()
	if cmd.Process != nil {
		p.pid = cmd.Process.Pid
	}
	if err != nil {
		return startError(name, err)
	}
	if err := boundMemory(p.pid, int64(c.MaxMemory)); err != nil {
		p.output.log.Warn("the memory of the plugin is not bounded by the system", "error", err)
	}
	ctx, cancel := context.WithTimeout(ctx, c.StartWithin)
	defer cancel()
	return p.connect(ctx)
}

// command makes a command with a clean environment: nothing that the server
// knows, such as the address of its database.
func command(path string, prog manifest.Program, temp string, c *Config) *exec.Cmd {
	cmd := exec.Command(path) //nolint:noctx // the supervisor ends it
	if prog.Interpreter != "" {
		cmd = exec.Command(prog.Interpreter, path) //nolint:noctx // the supervisor ends it
	}
	cmd.Dir = filepath.Dir(path)
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "TMPDIR=" + temp, "HOME=" + temp, "LANG=C.UTF-8", fmt.Sprintf("GOMEMLIMIT=%d", int64(c.MaxMemory)*9/10)}
	return cmd
}

// connect finds the services of the plugin.
func (p *process) connect(ctx context.Context) error {
	protocol, err := p.client.Client()
	if err != nil {
		return err
	}
	raw, err := protocol.Dispense("quoin")
	if err != nil {
		return err
	}
	p.conn = raw.(*grpc.ClientConn)
	p.lifecycle, p.tools = pluginv1.NewLifecycleClient(p.conn), pluginv1.NewToolsClient(p.conn)
	p.resources, p.events = pluginv1.NewResourcesClient(p.conn), pluginv1.NewEventsClient(p.conn)
	p.webhooks, p.commands = pluginv1.NewWebhooksClient(p.conn), pluginv1.NewCommandsClient(p.conn)
	if p.about, err = p.lifecycle.Describe(ctx, &pluginv1.DescribeRequest{}); err != nil {
		return fmt.Errorf("the plugin does not say what it is: %w", err)
	}
	return nil
}

// startError says in words why a plugin did not start.
func startError(name string, err error) error {
	text := err.Error()
	switch {
	case strings.Contains(text, "Incompatible API version"), strings.Contains(text, "incompatible API version"):
		return fmt.Errorf("%s speaks another protocol than this server, which speaks %d: build it with the sdk of this server", name, plugin.Protocol)
	case strings.Contains(text, "Unrecognized remote plugin message"):
		return fmt.Errorf("%s ended before it said hello: it is no plugin, or it failed at once (its last lines are in the log)", name)
	case strings.Contains(text, "timeout while waiting"):
		return fmt.Errorf("%s did not say hello in time", name)
	}
	line, _, _ := strings.Cut(text, "\n")
	return fmt.Errorf("%s did not start: %s", name, line)
}

// stopWithin is how long a plugin may take after Stop.
const stopWithin = 5 * time.Second

// stop asks the plugin to end, and ends it.
func (p *process) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), stopWithin) //nolint:forbidigo // the caller's may have ended
	defer cancel()
	if p.lifecycle != nil {
		_, _ = p.lifecycle.Stop(ctx, &pluginv1.StopRequest{}) // it is killed in any case
	}
	p.kill()
}

// kill ends the plugin and whatever it started, and removes what it left.
func (p *process) kill() {
	p.keeper.end(p.pid)
	if p.client != nil {
		p.client.Kill()
	}
	if p.host != nil {
		p.host.Stop()
	}
	_ = os.RemoveAll(p.temp)
}

// exited tells whether the process has ended.
func (p *process) exited() bool { return p.client.Exited() }

// well asks the plugin again what it is: it must answer, and the same.
func (p *process) well(ctx context.Context) error {
	about, err := p.lifecycle.Describe(ctx, &pluginv1.DescribeRequest{})
	if err != nil {
		return err
	}
	if !proto.Equal(about, p.about) {
		return errChanged
	}
	return nil
}

var errChanged = errors.New("the plugin describes itself differently than at its start: what it offers must not change while it runs")

// sweepTemp removes the folders of hosts that died.
func sweepTemp() {
	folders, _ := filepath.Glob(filepath.Join(os.TempDir(), tempPrefix+"*"))
	for _, f := range folders {
		host, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(f), tempPrefix), "-")
		if pid, err := strconv.Atoi(host); err == nil && pid != os.Getpid() && !alive(pid) {
			_ = os.RemoveAll(f) // somebody else's is left
		}
	}
}
