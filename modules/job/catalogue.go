package job

import (
	"fmt"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/module"
)

// commandList are the commands that somebody may run.
func (s *Service) commandList(who *auth.Identity) []jobCommand {
	views := []jobCommand{}
	for _, c := range s.commands.For(who) {
		views = append(views, viewOf(c))
	}
	return views
}

func viewOf(c module.Command) jobCommand {
	v := jobCommand{
		Name: strings.Join(c.Path(), " "), Usage: c.Use, Aliases: append([]string{}, c.Aliases...), Short: c.Short, Long: c.Long,
		Roles: c.NeededRoles(), Options: []jobOption{},
	}
	for _, f := range c.Flags {
		v.Options = append(v.Options, jobOption{f.Name, typeOf(f.Default), defaultOf(f.Default), f.Doc})
	}
	return v
}

func typeOf(v any) string {
	switch v.(type) {
	case bool:
		return "bool"
	case int:
		return "int"
	case time.Duration:
		return "duration"
	case []string:
		return "list"
	}
	return "string"
}

func defaultOf(v any) string {
	if list, yes := v.([]string); yes {
		return strings.Join(list, ",")
	}
	return fmt.Sprint(v)
}
