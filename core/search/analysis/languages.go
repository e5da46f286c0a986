package analysis

import (
	"maps"
	"strings"

	bleve "github.com/blevesearch/bleve/v2/analysis"
	// Each of these registers the stop words and stemmers of a language.
	_ "github.com/blevesearch/bleve/v2/analysis/lang/ar"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/bg"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/ca"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/cjk"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/ckb"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/cs"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/da"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/de"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/el"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/en"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/es"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/eu"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/fa"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/fi"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/fr"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/ga"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/gl"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/hi"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/hu"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/hy"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/id"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/it"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/nl"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/no"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/pt"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/ro"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/ru"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/sv"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/tr"
	"github.com/blevesearch/bleve/v2/analysis/token/porter"
	"github.com/blevesearch/bleve/v2/analysis/token/snowball"
	"github.com/blevesearch/bleve/v2/analysis/token/stop"
)

// codes gives the code that Bleve uses for a language of Elasticsearch.
func codes(language string) string {
	for pair := range strings.FieldsSeq("arabic:ar armenian:hy basque:eu brazilian:pt bulgarian:bg catalan:ca cjk:cjk czech:cs danish:da dutch:nl " +
		"english:en finnish:fi french:fr galician:gl german:de greek:el hindi:hi hungarian:hu indonesian:id irish:ga italian:it " +
		"norwegian:no persian:fa portuguese:pt romanian:ro russian:ru sorani:ckb spanish:es swedish:sv turkish:tr") {
		if name, code, _ := strings.Cut(pair, ":"); name == language {
			return code
		}
	}
	return ""
}

// englishStops are Lucene's stop words; Bleve's list of English is longer.
const englishStops = "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with"

// stopWords gives the stop words of a language, or of "none".
func (s *Set) stopWords(language string) (bleve.TokenMap, bool) {
	switch language {
	case "none":
		return bleve.NewTokenMap(), true
	case "english":
		return words(strings.Fields(englishStops)), true
	}
	code := codes(language)
	if code == "" {
		return nil, false
	}
	m, err := s.cache.TokenMapNamed("stop_" + code)
	return maps.Clone(m), err == nil
}

// stemmer gives the filter of Elasticsearch's stemmer of that name.
func (s *Set) stemmer(o *options, name string) bleve.TokenFilter {
	name = strings.ToLower(name)
	filter := ""
	switch name {
	case "english", "porter":
		return porter.NewPorterStemmer()
	case "porter2":
		filter = "stemmer_en_snowball"
	case "possessive_english":
		filter = "possessive_en"
	case "minimal_english", "light_english", "kstem":
		filter = "stemmer_en_plural"
	case "light_french", "light_german", "light_spanish", "light_italian", "light_portuguese":
		filter = "stemmer_" + codes(name[len("light_"):]) + "_light"
	case "portuguese":
		filter = "stemmer_pt_light"
	case "minimal_french":
		filter = "stemmer_fr_min"
	case "german2":
		filter = "stemmer_de_snowball"
	case "arabic", "hindi", "sorani":
		filter = "stemmer_" + codes(name)
	case "danish", "dutch", "finnish", "french", "german", "hungarian", "italian", "norwegian", "romanian", "russian",
		"spanish", "swedish", "turkish":
		filter = "stemmer_" + codes(name) + "_snowball"
	}
	if f := s.bleveFilter(filter); f != nil {
		return f
	}
	o.fail("the stemmer %q is not supported", name)
	return nil
}

func (s *Set) snowball(o *options, language string) bleve.TokenFilter {
	language = strings.ToLower(language)
	if language == "english" || language == "porter" {
		return snowball.NewSnowballStemmer("english")
	}
	return s.stemmer(o, language)
}

func (s *Set) bleveFilter(name string) bleve.TokenFilter {
	f, err := s.cache.TokenFilterNamed(name)
	if err != nil {
		return nil
	}
	return f
}

// language makes the analyzer of a language, such as "french".
func (s *Set) language(name string) *Analyzer {
	a := &Analyzer{name: name, token: standard, lower: true}
	if name == "english" {
		a.lower = false
		m, _ := s.stopWords(name)
		a.filters = []bleve.TokenFilter{s.bleveFilter("possessive_en"), s.bleveFilter("to_lower"),
			stop.NewStopTokensFilter(m), porter.NewPorterStemmer()}
		return a
	}
	made, err := s.cache.AnalyzerNamed(codes(name))
	if err != nil {
		if m, ok := s.stopWords(name); ok && codes(name) != "" {
			a.filters = []bleve.TokenFilter{stop.NewStopTokensFilter(m)}
			return a
		}
		return nil
	}
	def, ok := made.(*bleve.DefaultAnalyzer)
	if !ok {
		return nil
	}
	a.filters = def.TokenFilters
	return a
}
