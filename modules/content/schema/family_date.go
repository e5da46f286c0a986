package schema

import "github.com/quoin-cms/quoin/core/rawjson"

// date is a string in the format of the field, or an array of them when
// multiple. Also times and date-times.
type date struct{ single }

func (date) add(c *compiler, into *node, f *Field, t *fieldType) error {
	n := c.leaf(into, f, t)
	format := f.Format
	if format == "" {
		format = defaultFormat(t.name)
	}
	var ok bool
	if n.dates, ok = parseDateFormat(format); !ok {
		c.warn(n.path, "unknown_format", "the date format "+clip(format)+" is not known; any string is accepted")
	}
	c.put(into, n)
	return nil
}

// defaultFormat is what the original stores when a field names no format.
func defaultFormat(typ string) string {
	if typ == "time" {
		return "" // whatever the client's time picker sends
	}
	return "date_time_no_millis||date_time"
}

func (date) check(w *walker, n *node, v []byte, k rawjson.Kind) {
	w.values(n, v, k, true, dateValue)
}

func dateValue(w *walker, n *node, v []byte, k rawjson.Kind) {
	if k == rawjson.Number && n.dates.epoch() {
		if !n.dates.match(v) {
			w.fail("format", "must be "+n.dates.describe())
		}
		return
	}
	s, ok := rawjson.Bytes(v)
	switch {
	case !ok:
		w.wrongType(k, "a string")
	case len(s) > 0 && !n.dates.match(s):
		w.fail("format", "must be "+n.dates.describe())
	}
}

func (date) schema(s *schemaWriter, n *node) {
	s.values(n, func() { n.dates.schema(s) })
}

// dateRange is two dates under names of their own, in the parent or, when
// nested, in an object under the name of the field.
type dateRange struct{ unstored }

func (dateRange) add(c *compiler, into *node, f *Field, t *fieldType) error {
	from, to := f.From, f.To
	if from == "" {
		from = f.Name + "_from_date"
	}
	if to == "" {
		to = f.Name + "_to_date"
	}
	if f.Nested {
		n := c.leaf(into, f, t)
		n.behave = object{}
		c.put(into, n)
		into = n
	}
	dates, _ := typeByName("datetime")
	for _, end := range []struct{ name, label string }{{from, f.Label + " (from)"}, {to, f.Label + " (to)"}} {
		field := &Field{Name: end.name, Type: dates.name, Label: end.label, Required: f.Required && !f.Nested, RequiredIf: f.RequiredIf}
		if f.Label == "" {
			field.Label = ""
		}
		if !f.Nested {
			field.MinimumRole = f.MinimumRole
		}
		if err := dates.behave.add(c, into, field, dates); err != nil {
			return err
		}
	}
	return nil
}
