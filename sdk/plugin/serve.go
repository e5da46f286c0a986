package plugin

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/hashicorp/go-hclog"
	hashi "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	pluginv1 "github.com/quoin-cms/quoin/sdk/proto/plugin/v1"
)

// Protocol is the number that plugin and server must have in common.
const Protocol = 1

// MaxMessage bounds a message between plugin and server, in bytes.
const MaxMessage = 16 << 20

// Handshake is what both sides say first. It is no secret: it only keeps people
// from starting a plugin by hand.
func Handshake() hashi.HandshakeConfig {
	return hashi.HandshakeConfig{ProtocolVersion: Protocol, MagicCookieKey: "QUOIN_PLUGIN", MagicCookieValue: "b0f5a3c2-quoin-plugin"}
}

// Serve connects to the server that started this process and answers its calls.
// It returns when the server asks the plugin to stop; main then ends. The
// process ends as well when the server is gone.
func (p *Plugin) Serve() {
	quit := watchParent(os.Getppid, parentEvery)
	defer close(quit)
	hashi.Serve(&hashi.ServeConfig{
		HandshakeConfig: Handshake(),
		Logger:          hclog.New(&hclog.LoggerOptions{Level: hclog.Error, Output: os.Stderr}),
		Plugins:         hashi.PluginSet{"quoin": &bridge{p: p}},
		GRPCServer: func(options []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(options, grpc.MaxRecvMsgSize(MaxMessage), grpc.MaxSendMsgSize(MaxMessage))...)
		},
	})
}

const parentEvery = 2 * time.Second

// watchParent ends the process when its parent has died: where the system
// cannot tell it, nobody else would.
func watchParent(parent func() int, every time.Duration) (quit chan struct{}) {
	first, quit := parent(), make(chan struct{})
	go func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
			}
			if parent() != first {
				os.Exit(1) //nolint:forbidigo // nobody is left to return to
			}
		}
	}()
	return quit
}

// bridge registers the services with go-plugin.
type bridge struct {
	hashi.NetRPCUnsupportedPlugin
	p *Plugin
}

// GRPCServer implements hashi.GRPCPlugin.
func (b *bridge) GRPCServer(_ *hashi.GRPCBroker, s *grpc.Server) error {
	b.p.Register(s)
	return nil
}

// GRPCClient implements hashi.GRPCPlugin; plugins have no use for it.
func (b *bridge) GRPCClient(context.Context, *hashi.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("this side serves")
}

// Register serves the plugin on a gRPC server. Serve does this; kits for tests
// call it themselves.
func (p *Plugin) Register(s grpc.ServiceRegistrar) {
	pluginv1.RegisterLifecycleServer(s, &lifecycle{p: p})
	if len(p.tools) > 0 {
		pluginv1.RegisterToolsServer(s, toolServer{p: p})
	}
	if len(p.resources) > 0 {
		pluginv1.RegisterResourcesServer(s, resourceServer{p: p})
	}
	if len(p.events) > 0 {
		pluginv1.RegisterEventsServer(s, eventServer{p: p})
	}
	if len(p.webhooks) > 0 {
		pluginv1.RegisterWebhooksServer(s, webhookServer{p: p})
	}
	if len(p.commands) > 0 {
		pluginv1.RegisterCommandsServer(s, commandServer{p: p})
	}
}
