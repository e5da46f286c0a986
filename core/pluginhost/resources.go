package pluginhost

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
	pluginv1 "github.com/quoin-cms/quoin/sdk/proto/plugin/v1"
)

// resources is the port.ResourceSource of the plugins.
type resources struct{ *Host }

// SourceName implements port.ResourceSource.
func (resources) SourceName() string { return "plugins" }

func (r resources) each(ctx context.Context, fn func(*pluginv1.Resource)) {
	if auth.From(ctx) == nil {
		return
	}
	for _, s := range r.all() {
		if p, _ := s.current(); p != nil {
			for _, res := range p.about.Resources {
				fn(res)
			}
		}
	}
}

// Resources implements port.ResourceSource.
func (r resources) Resources(ctx context.Context) ([]port.Resource, error) {
	var list []port.Resource
	r.each(ctx, func(res *pluginv1.Resource) {
		if !res.Template {
			list = append(list, port.Resource{URI: res.Uri, Name: res.Name, Description: res.Description, MIME: res.MimeType})
		}
	})
	return list, nil
}

// ResourceTemplates implements port.ResourceSource.
func (r resources) ResourceTemplates(ctx context.Context) ([]port.ResourceTemplate, error) {
	var list []port.ResourceTemplate
	r.each(ctx, func(res *pluginv1.Resource) {
		if res.Template {
			list = append(list, port.ResourceTemplate{Template: res.Uri, Name: res.Name, Description: res.Description, MIME: res.MimeType})
		}
	})
	return list, nil
}

// ReadResource implements port.ResourceSource.
func (r resources) ReadResource(ctx context.Context, uri string) ([]port.ResourceContent, error) {
	s := r.offering(func(d *pluginv1.Description) bool {
		for _, res := range d.Resources {
			prefix, _, _ := strings.Cut(res.Uri, "{")
			if res.Uri == uri || res.Template && strings.HasPrefix(uri, prefix) {
				return true
			}
		}
		return false
	})
	if s == nil || auth.From(ctx) == nil {
		return nil, problem.New(problem.NotFound, "there is no resource %.200q", uri)
	}
	var answer *pluginv1.ReadResponse
	err := s.call(ctx, r.config.CallTimeout, func(ctx context.Context, p *process) (err error) {
		from, end := p.calls.begin(ctx)
		defer end()
		answer, err = p.resources.Read(ctx, &pluginv1.ReadRequest{Caller: from, Uri: uri})
		return err
	})
	if err != nil {
		return nil, err
	}
	c := port.ResourceContent{URI: uri, MIME: answer.MimeType}
	if utf8.Valid(answer.Data) {
		c.Text = string(answer.Data)
	} else {
		c.Data = answer.Data
	}
	return []port.ResourceContent{c}, nil
}

// WatchResources implements port.ResourceSource.
func (r resources) WatchResources(changed func(uri string)) { r.Watch(func() { changed("") }) }
