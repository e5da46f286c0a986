package mcp

import (
	"net/url"
	"strings"
	"unicode/utf8"
)

// scheme is what the addresses of resources begin with (contract-notes 1.2).
const scheme = "elasticms://"

const (
	typesURI        = scheme + "content-types/descriptions"
	environmentsURI = scheme + "environments/descriptions"
)

// addressKind tells what an address of the server leads to.
type addressKind int

const (
	aDocument     addressKind = iota + 1 // newest revision
	aPublished                           // a document in an environment
	aTypes                               // list of content types
	aType                                // a content type
	aSchema                              // the schema of one
	aEnvironments                        // list of environments
	aEnvironment                         // an environment
	aFile                                // the bytes of a file
)

// address is the address of a resource, taken apart.
type address struct {
	kind        addressKind
	contentType string
	ouuid       string
	environment string
	hash        string
}

// parseAddress takes the address of a resource of the server apart; false for
// one that is not of this form, which may be the one of another module.
func parseAddress(uri string) (a address, ok bool) {
	rest, ours := strings.CutPrefix(uri, scheme)
	if !ours {
		return a, false
	}
	parts := strings.Split(rest, "/")
	for i, part := range parts {
		var err error
		if parts[i], err = url.PathUnescape(part); err != nil || parts[i] == "" || !utf8.ValidString(parts[i]) {
			return a, false
		}
	}
	is := func(pattern ...string) bool {
		if len(parts) != len(pattern) {
			return false
		}
		for i, p := range pattern {
			if p != "" && p != parts[i] {
				return false
			}
		}
		return true
	}
	switch {
	case is("documents", "", ""):
		return address{kind: aDocument, contentType: parts[1], ouuid: parts[2]}, true
	case is("environments", "", "documents", "", ""):
		return address{kind: aPublished, environment: parts[1], contentType: parts[3], ouuid: parts[4]}, true
	case is("content-types", "descriptions"):
		return address{kind: aTypes}, true
	case is("content-types", "", "description"):
		return address{kind: aType, contentType: parts[1]}, true
	case is("content-types", "", "schema"):
		return address{kind: aSchema, contentType: parts[1]}, true
	case is("environments", "descriptions"):
		return address{kind: aEnvironments}, true
	case is("environments", "", "description"):
		return address{kind: aEnvironment, environment: parts[1]}, true
	case is("files", ""):
		return address{kind: aFile, hash: parts[1]}, true
	}
	return a, false
}

// String writes the address in the one form that the server itself uses.
func (a address) String() string {
	e := url.PathEscape
	switch a.kind {
	case aDocument:
		return scheme + "documents/" + e(a.contentType) + "/" + e(a.ouuid)
	case aPublished:
		return scheme + "environments/" + e(a.environment) + "/documents/" + e(a.contentType) + "/" + e(a.ouuid)
	case aTypes:
		return typesURI
	case aType:
		return scheme + "content-types/" + e(a.contentType) + "/description"
	case aSchema:
		return scheme + "content-types/" + e(a.contentType) + "/schema"
	case aEnvironments:
		return environmentsURI
	case aEnvironment:
		return scheme + "environments/" + e(a.environment) + "/description"
	case aFile:
		return scheme + "files/" + e(a.hash)
	}
	return ""
}

// What may change, beside single addresses.
const (
	everything = "*"        // all there is
	settings   = "settings" // content types and environments
)

// topics are the changes that concern an address.
func topics(uri string) []string {
	a, ok := parseAddress(uri)
	if !ok {
		return []string{uri, everything}
	}
	own := a.String()
	switch a.kind {
	case aDocument, aFile:
		return []string{own, everything}
	case aPublished:
		return []string{own, documentAddress(a.contentType, a.ouuid).everywhere(), everything}
	}
	return []string{own, settings, everything}
}

// canonical is the form of an address that topics have.
func canonical(uri string) string {
	if a, ok := parseAddress(uri); ok {
		return a.String()
	}
	return uri
}

// documentAddress is the address of the newest revision of a document.
func documentAddress(contentType, ouuid string) address {
	return address{kind: aDocument, contentType: contentType, ouuid: ouuid}
}

// everywhere stands for a document in all environments.
func (a address) everywhere() string {
	return everything + a.String()
}
