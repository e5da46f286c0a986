package pluginhost_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	hashi "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/quoin-cms/quoin/sdk/plugin"
	pluginv1 "github.com/quoin-cms/quoin/sdk/proto/plugin/v1"
)

type text struct {
	Text string `json:"text,omitempty"`
}

type settings struct {
	Channels []string `json:"channels,omitempty" doc:"where to"`
	Limit    int      `json:"limit,omitempty"`
	Key      string   `json:"key,omitempty" secret:"true"`
}

// playPlugin is what the test program does as a plugin.
func playPlugin(name string) {
	kind, _, _ := strings.Cut(name, "-")
	switch kind {
	case "exits":
		fmt.Fprintln(os.Stderr, "goodbye at once")
		os.Exit(3)
	case "silent":
		select {}
	case "liar":
		fmt.Println("1|9|unix|/nowhere|grpc|")
		select {}
	case "double":
		serveRaw(func(s *grpc.Server) { pluginv1.RegisterLifecycleServer(s, double{name: name}) })
		return
	case "old":
		_ = os.Setenv("PLUGIN_PROTOCOL_VERSIONS", "7")
		fmt.Println("1|7|unix|/nowhere|grpc|")
		select {}
	}
	p := plugin.New(name, "1.0.0")
	good(p)
	switch kind {
	case "counts":
		counts(p)
	case "changes":
		changes(p)
	case "twice":
		plugin.Tool(p, name, "one", func(*plugin.Call, text) (string, error) { return "", nil })
		plugin.Tool(p, "bad name!", "two", func(*plugin.Call, text) (string, error) { return "", nil })
	case "greedy":
		p.Needs(plugin.CapDocumentsWrite)
	case "settings":
		plugin.Config(p, func(_ *plugin.Call, s settings) error {
			var errs []error
			if s.Limit < 0 {
				errs = append(errs, plugin.Field("limit", "must not be negative"))
			}
			for i, c := range s.Channels {
				if c == "" {
					errs = append(errs, plugin.Field(fmt.Sprintf("channels[%d]", i), "is empty"))
				}
			}
			return errors.Join(errs...)
		})
	}
	if kind == "giant" {
		serveRaw(func(s *grpc.Server) { p.Register(s) })
		return
	}
	p.Serve()
}

// double is a plugin with two tools of one name.
type double struct {
	pluginv1.UnimplementedLifecycleServer
	name string
}

// Describe implements pluginv1.LifecycleServer.
func (d double) Describe(context.Context, *pluginv1.DescribeRequest) (*pluginv1.Description, error) {
	tool := &pluginv1.Tool{Name: "same", InputSchema: []byte(`{"type":"object"}`)}
	return &pluginv1.Description{Name: d.name, Version: "1", Services: []string{"quoin.plugin.v1.Lifecycle"}, Tools: []*pluginv1.Tool{tool, tool}}, nil
}

// raw serves without the bounds and checks of the kit.
type raw struct {
	hashi.NetRPCUnsupportedPlugin
	register func(*grpc.Server)
}

// GRPCServer implements hashi.GRPCPlugin.
func (r raw) GRPCServer(_ *hashi.GRPCBroker, s *grpc.Server) error { r.register(s); return nil }

// GRPCClient implements hashi.GRPCPlugin.
func (raw) GRPCClient(context.Context, *hashi.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("this side serves")
}

func serveRaw(register func(*grpc.Server)) {
	hashi.Serve(&hashi.ServeConfig{
		HandshakeConfig: plugin.Handshake(), Plugins: hashi.PluginSet{"quoin": raw{register: register}},
		GRPCServer: func(o []grpc.ServerOption) *grpc.Server { return grpc.NewServer(o...) },
	})
}

// good adds tools that behave, and some that do not.
func good(p *plugin.Plugin) {
	p.Needs(plugin.CapKV, plugin.CapDocumentsRead)
	plugin.Tool(p, "echo", "says it again", func(_ *plugin.Call, in text) (string, error) { return in.Text, nil })
	plugin.Tool(p, "who", "says who asks", func(c *plugin.Call, _ text) (string, error) { return c.User().Username, nil })
	plugin.Tool(p, "trace", "says where in a trace it is called", func(c *plugin.Call, _ text) (string, error) {
		md, _ := metadata.FromIncomingContext(c)
		return strings.Join(md.Get("traceparent"), ","), nil
	})
	plugin.Tool(p, "fail", "fails", func(*plugin.Call, text) (string, error) { return "", errors.New("no luck") })
	plugin.Tool(p, "panic", "panics", func(*plugin.Call, text) (string, error) { panic("help") })
	plugin.Tool(p, "crash", "ends the process", func(*plugin.Call, text) (string, error) { os.Exit(5); return "", nil })
	plugin.Tool(p, "hang", "never answers", func(*plugin.Call, text) (string, error) { select {} })
	plugin.Tool(p, "wait", "waits for the caller to go", func(c *plugin.Call, _ text) (string, error) {
		<-c.Done()
		return "", c.Err()
	})
	plugin.Tool(p, "big", "answers too much", func(*plugin.Call, text) (string, error) { return strings.Repeat("x", 64<<20), nil })
	plugin.Tool(p, "huge", "answers far too much", func(*plugin.Call, text) (string, error) { return strings.Repeat("x", 1<<30), nil })
	plugin.Tool(p, "eat", "takes memory without end", func(*plugin.Call, text) (string, error) {
		var all [][]byte
		for {
			b := make([]byte, 8<<20)
			for i := range b {
				b[i] = 1
			}
			all = append(all, b)
			if len(all) > 1<<20 {
				return "", nil
			}
		}
	})
	plugin.Tool(p, "flood", "writes many lines", func(c *plugin.Call, _ text) (string, error) {
		for range 100_000 {
			fmt.Fprintln(os.Stderr, strings.Repeat("noise ", 20))
		}
		return "done", nil
	})
	plugin.Tool(p, "fork", "starts another process", func(*plugin.Call, text) (string, error) {
		cmd := exec.Command("/bin/sleep", "1000")
		if err := cmd.Start(); err != nil {
			return "", err
		}
		return fmt.Sprint(cmd.Process.Pid), nil
	})
	plugin.Tool(p, "env", "tells its environment", func(*plugin.Call, text) (string, error) { return strings.Join(os.Environ(), "\n"), nil })
	plugin.Tool(p, "pid", "tells its process", func(*plugin.Call, text) (string, error) { return fmt.Sprint(syscall.Getpid()), nil })
	plugin.Tool(p, "read", "reads a document", func(c *plugin.Call, in text) (string, error) {
		d, err := c.Document("page", in.Text)
		if err != nil {
			return "", err
		}
		return string(d.Data), nil
	})
	plugin.Tool(p, "keep", "keeps and reads a value", func(c *plugin.Call, in text) (string, error) {
		if err := c.KV().Set("k", []byte(in.Text), time.Hour); err != nil {
			return "", err
		}
		v, ok, err := c.KV().Get("k")
		return fmt.Sprintf("%s %v", v, ok), err
	})
	plugin.Tool(p, "progress", "tells how far it is", func(c *plugin.Call, _ text) (string, error) {
		c.Progress(1, 2, "half")
		return "done", nil
	})
	p.Resource("test://{name}", "test", "what was asked for", "text/plain", func(_ *plugin.Call, uri string) ([]byte, error) { return []byte(uri), nil })
	p.Command("say", "TEXT", "says it", func(c *plugin.Call, args []string) error {
		for _, a := range args {
			c.Print("said %s", a)
		}
		return nil
	})
	p.TransformWebhook("content.*", func(_ *plugin.Call, d *plugin.Delivery) error {
		switch {
		case strings.Contains(string(d.Body), "skip"):
			d.Skip = true
		case strings.Contains(string(d.Body), "slow"):
			select {}
		case strings.Contains(string(d.Body), "steal"):
			d.Body = []byte(`"stolen"`)
			d.Headers["X-Webhook-Signature"] = "mine"
		case strings.Contains(string(d.Body), "odd"):
			d.Headers["X-(Odd)"] = "no name of a header"
		case strings.Contains(string(d.Body), "bell"):
			d.Headers["X-Bell"] = "\a"
		default:
			d.Body = []byte(`{"was":` + string(d.Body) + `}`)
			d.Headers["X-Made-By"] = "plugin"
		}
		return nil
	})
}

// counts notes each event by its id, and dies in the middle now and then.
func counts(p *plugin.Plugin) {
	var n atomic.Int64
	p.OnEvent("test.*", func(c *plugin.Call, e plugin.Event) error {
		if n.Add(1) == 45 {
			os.Exit(9)
		}
		return c.KV().Set(fmt.Sprintf("seen/%d", e.ID), []byte("1"), 0)
	})
}

// changes gets another tool while it runs.
func changes(p *plugin.Plugin) {
	plugin.Tool(p, "grow", "adds a tool", func(*plugin.Call, text) (string, error) {
		plugin.Tool(p, "new", "was not there", func(*plugin.Call, text) (string, error) { return "", nil })
		return "", nil
	})
}
