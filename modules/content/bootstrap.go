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
	"github.com/quoin-cms/quoin/modules/content/schema"
)

// bootstrap fills an empty installation.
type bootstrap struct {
	service *Service
	cfg     *Config
	files   module.Samples
	welcome *module.Welcome
}

// environments creates the configured environments where there is none.
func (b *bootstrap) environments(ctx context.Context) error {
	ctx = auth.With(ctx, auth.System("quoin"))
	cat, err := b.service.types.reload(ctx, true)
	if err != nil || len(cat.envs) > 0 {
		return err
	}
	for i, name := range b.cfg.Environments {
		if err := b.service.put(ctx, kindEnvironment, environmentExport(name, strings.ToUpper(name[:1])+name[1:], i == 0, i+1)); err != nil {
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
		if err := b.service.put(ctx, kindContentType, schema.Export(ct)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		b.welcome.Say("Created the sample content type " + strings.TrimSuffix(path.Base(name), ".yaml"))
	}
	return nil
}
