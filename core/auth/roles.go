package auth

import (
	"slices"
	"strings"
)

// The roles of the API (contract-notes 0.2).
const (
	RoleUser           = "ROLE_USER"
	RoleAuthor         = "ROLE_AUTHOR"
	RoleReviewer       = "ROLE_REVIEWER"
	RoleTraductor      = "ROLE_TRADUCTOR"
	RoleCopywriter     = "ROLE_COPYWRITER"
	RolePublisher      = "ROLE_PUBLISHER"
	RoleWebmaster      = "ROLE_WEBMASTER"
	RoleAuditor        = "ROLE_AUDITOR"
	RoleFormCRM        = "ROLE_FORM_CRM"
	RoleTaskManager    = "ROLE_TASK_MANAGER"
	RoleUserManagement = "ROLE_USER_MANAGEMENT"
	RoleAdmin          = "ROLE_ADMIN"
	RoleSuperAdmin     = "ROLE_SUPER_ADMIN"
	RoleAPI            = "ROLE_API"
	RoleUserRead       = "ROLE_USER_READ"
	RoleCopyPaste      = "ROLE_COPY_PASTE"
	RoleAllowAlign     = "ROLE_ALLOW_ALIGN"
	RoleDefaultSearch  = "ROLE_DEFAULT_SEARCH"
	RoleSuper          = "ROLE_SUPER"
	RoleJobWorker      = "ROLE_JOB_WORKER"
)

// Role is a role with what it is for and what it implies directly.
type Role struct {
	Name    string   `json:"name"`
	Implies []string `json:"implies,omitempty"`
	Doc     string   `json:"doc"`
}

// Roles lists every role. The flags at the end are implied by none: even a
// super administrator has no access to the API unless ROLE_API is granted.
func Roles() []Role {
	return []Role{
		{RoleUser, nil, "signs in"},
		{RoleAuthor, []string{RoleUser}, "writes documents"},
		{RoleReviewer, []string{RoleAuthor}, "reviews documents"},
		{RoleTraductor, []string{RoleReviewer}, "translates documents"},
		{RoleCopywriter, []string{RoleTraductor}, "edits every text"},
		{RolePublisher, []string{RoleCopywriter}, "publishes documents"},
		{RoleWebmaster, []string{RolePublisher}, "manages the site's technical documents"},
		{RoleAuditor, []string{RoleReviewer}, "reads the audit trail"},
		{RoleFormCRM, []string{RoleUser}, "handles form submissions"},
		{RoleTaskManager, []string{RoleUser}, "manages tasks"},
		{RoleUserManagement, []string{RoleUser}, "manages users"},
		{RoleAdmin, []string{RoleWebmaster, RoleUserManagement}, "manages the configuration"},
		{RoleSuperAdmin, []string{RoleAdmin}, "may do everything, also what a content type gives to nobody"},
		{RoleAPI, nil, "uses the HTTP API"},
		{RoleUserRead, nil, "lists users"},
		{RoleCopyPaste, nil, "copies documents"},
		{RoleAllowAlign, nil, "aligns environments"},
		{RoleDefaultSearch, nil, "manages default searches"},
		{RoleSuper, nil, "uses experimental features"},
		{RoleJobWorker, nil, "takes jobs with a tag and reports on them, creates such jobs; needs ROLE_API as well, but no ROLE_ADMIN"},
	}
}

// AllRoles are the names of every role.
func AllRoles() []string {
	var names []string
	for _, r := range Roles() {
		names = append(names, r.Name)
	}
	return names
}

// Known reports whether the name is a role.
func Known(role string) bool { return slices.Contains(AllRoles(), role) }

// Expand gives the roles and all they imply. ROLE_USER is always among them:
// whoever has an account is a user.
func Expand(granted []string) map[string]bool {
	implies := map[string][]string{}
	for _, r := range Roles() {
		implies[r.Name] = r.Implies
	}
	set := map[string]bool{}
	todo := append([]string{RoleUser}, granted...)
	for len(todo) > 0 {
		r := todo[0]
		todo = todo[1:]
		if !set[r] {
			set[r] = true
			todo = append(todo, implies[r]...)
		}
	}
	return set
}

// CanonicalRole puts a role into its usual spelling: "admin" and "role_admin"
// become "ROLE_ADMIN".
func CanonicalRole(s string) string {
	s = strings.ToUpper(strings.TrimSpace(s))
	if !strings.HasPrefix(s, "ROLE_") {
		s = "ROLE_" + s
	}
	return s
}
