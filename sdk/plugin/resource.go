package plugin

import (
	"context"
	"fmt"
	"strings"

	pluginv1 "github.com/quoin-cms/quoin/sdk/proto/plugin/v1"
)

type resource struct {
	about *pluginv1.Resource
	read  func(c *Call, uri string) ([]byte, error)
}

// Resource adds a document that agents read over MCP. uri such as
// hello://greeting names one; with a {name} at its end, as in hello://{name}, it
// names all that begin so. read gets the URI that is asked for.
func (p *Plugin) Resource(uri, name, description, mimeType string, read func(c *Call, uri string) ([]byte, error)) {
	_, _, open := strings.Cut(uri, "{")
	p.resources = append(p.resources, &resource{
		about: &pluginv1.Resource{Uri: uri, Name: name, Description: description, MimeType: mimeType, Template: open}, read: read,
	})
}

func (r *resource) fits(uri string) bool {
	prefix, _, open := strings.Cut(r.about.Uri, "{")
	return uri == r.about.Uri || open && strings.HasPrefix(uri, prefix) && len(uri) > len(prefix)
}

// resourceServer serves quoin.plugin.v1.Resources.
type resourceServer struct {
	pluginv1.UnimplementedResourcesServer
	p *Plugin
}

// Read implements pluginv1.ResourcesServer.
func (s resourceServer) Read(ctx context.Context, req *pluginv1.ReadRequest) (*pluginv1.ReadResponse, error) {
	for _, r := range s.p.resources {
		if !r.fits(req.Uri) {
			continue
		}
		c := s.p.call(ctx, req.Caller)
		var data []byte
		err := protect(func() (err error) { data, err = r.read(c, req.Uri); return err })
		if err != nil {
			return nil, failed(c, "resource "+req.Uri, err)
		}
		return &pluginv1.ReadResponse{Data: data, MimeType: r.about.MimeType}, nil
	}
	return nil, errUnknown("resource", fmt.Sprintf("%.200s", req.Uri))
}
