// Package modules holds the list of all modules.
package modules

import (
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/modules/audit"
	"github.com/quoin-cms/quoin/modules/content"
	"github.com/quoin-cms/quoin/modules/file"
	"github.com/quoin-cms/quoin/modules/form"
	"github.com/quoin-cms/quoin/modules/job"
	"github.com/quoin-cms/quoin/modules/mcp"
	"github.com/quoin-cms/quoin/modules/search"
	"github.com/quoin-cms/quoin/modules/user"
	"github.com/quoin-cms/quoin/modules/webhook"
)

// All lists every module, in the order in which they are set up.
func All() []module.Spec {
	return []module.Spec{
		user.Spec(),
		content.Spec(),
		search.Spec(),
		file.Spec(),
		form.Spec(),
		webhook.Spec(),
		job.Spec(),
		audit.Spec(),
		mcp.Spec(),
	}
}
