package content

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/conf"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/modules/content/schema"
)

// bootstrap fills an empty installation.
type bootstrap struct {
	service *Service
	cfg     *Config
	files   module.Samples
	welcome *module.Welcome
}

func (b *bootstrap) put(ctx context.Context, kind string, export []byte) error {
	for _, k := range kinds() {
		if k.kind == kind {
			_, err := configEntity{k, b.service}.Put(ctx, "", export)
			return err
		}
	}
	return fmt.Errorf("no kind %q", kind)
}

// environments creates the configured environments where there is none.
func (b *bootstrap) environments(ctx context.Context) error {
	ctx = auth.With(ctx, auth.System("quoin"))
	cat, err := b.service.types.reload(ctx, true)
	if err != nil || len(cat.envs) > 0 {
		return err
	}
	for i, name := range b.cfg.Environments {
		export := rawjson.AppendString([]byte(`{"class":"EMS\\CoreBundle\\Entity\\Environment","arguments":[],"properties":{"name":`), name)
		export = rawjson.AppendString(append(export, `,"label":`...), strings.ToUpper(name[:1])+name[1:])
		export = fmt.Appendf(export, `,"managed":true,"snapshot":false,"circles":[],"inDefaultSearch":%t,"orderKey":%d,"updateReferrers":false,"templatePublication":null,"rolePublish":null},"replaced":[]}`, i == 0, i+1)
		if err := b.put(ctx, kindEnvironment, export); err != nil {
			return fmt.Errorf("environment %s: %w", name, err)
		}
	}
	return nil
}

// samples creates the sample content types where there is none.
func (b *bootstrap) samples(ctx context.Context) error {
	ctx = auth.With(ctx, auth.System("quoin"))
	cat, err := b.service.types.get(ctx)
	if err != nil || !b.cfg.Samples || b.files.FS == nil || len(cat.types) > 0 {
		return err
	}
	names, err := fs.Glob(b.files.FS, "content-types/*.yaml")
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := fs.ReadFile(b.files.FS, name)
		if err != nil {
			return err
		}
		short, err := conf.JSON(name, text)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		ct, err := schema.ParseShort(short)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := b.put(ctx, kindContentType, schema.Export(ct)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		b.welcome.Say("Created the sample content type " + strings.TrimSuffix(path.Base(name), ".yaml"))
	}
	return nil
}
