package schema

import "strings"

// fieldType is one row of the table of field types (contract notes 4.5).
type fieldType struct {
	name    string   // short name
	class   string   // class name of the original, without namespace and "FieldType"
	aliases []string // other short names
	behave  behaviour
	kind    string // kind in the search index
	schema  string // members of the JSON Schema beside its type
	derived bool   // filled by the service, so never demanded of a client
}

// fieldTypes is the table. The namespace of the classes is
// EMS\CoreBundle\Form\DataField.
var fieldTypes = []fieldType{
	{name: "container", class: "Container", behave: virtual{}},
	{name: "tabs", class: "Tabs", behave: virtual{}},
	{name: "holder", class: "Holder", behave: virtual{}},
	{name: "form", class: "Form", behave: formRef{}},
	{name: "multiplexed", class: "MultiplexedTabContainer", aliases: []string{"multiplex", "locales"}, behave: multiplexed{}},
	{name: "nested", class: "Nested", aliases: []string{"object"}, behave: object{}, kind: KindNested},
	{name: "collection", class: "Collection", behave: collection{}, kind: KindNested},
	{name: "collection_item", class: "CollectionItem", behave: object{}, kind: KindNested},

	{name: "text", class: "TextString", aliases: []string{"string"}, behave: text{}, kind: KindText},
	{name: "textarea", class: "Textarea", behave: text{}, kind: KindText},
	{name: "wysiwyg", class: "Wysiwyg", aliases: []string{"html"}, behave: text{}, kind: KindText, schema: `"contentMediaType":"text/html"`},
	{name: "code", class: "Code", behave: text{}, kind: KindText},
	{name: "email", class: "Email", behave: email{}, kind: KindKeyword, schema: `"format":"email"`},
	{name: "password", class: "Password", behave: text{}, kind: KindNone, schema: `"writeOnly":true`},
	{name: "icon", class: "Icon", behave: text{}, kind: KindText},
	{name: "color", class: "ColorPicker", behave: text{}, kind: KindKeyword},
	{name: "ouuid", class: "Ouuid", behave: text{}, kind: KindKeyword, schema: `"readOnly":true`, derived: true},
	{name: "user_property", class: "SelectUserProperty", behave: choice{}, kind: KindKeyword},

	{name: "integer", class: "Integer", behave: number{integer: true}, kind: KindInteger},
	{name: "number", class: "Number", aliases: []string{"float"}, behave: number{}, kind: KindDouble},
	{name: "checkbox", class: "Checkbox", aliases: []string{"boolean", "bool"}, behave: boolean{}, kind: KindBoolean},

	{name: "choice", class: "Choice", behave: choice{}, kind: KindKeyword},
	{name: "select", class: "Select", behave: choice{}, kind: KindKeyword},
	{name: "radio", class: "Radio", behave: choice{}, kind: KindKeyword},
	{name: "version_tag", class: "VersionTag", behave: choice{}, kind: KindKeyword},

	{name: "datalink", class: "DataLink", aliases: []string{"link"}, behave: link{}, kind: KindKeyword},
	{name: "date", class: "Date", behave: date{}, kind: KindDate},
	{name: "datetime", class: "DateTime", behave: date{}, kind: KindDate},
	{name: "time", class: "Time", behave: date{}, kind: KindDate},
	{name: "daterange", class: "DateRange", aliases: []string{"date_range"}, behave: dateRange{}, kind: KindNested},

	{name: "asset", class: "Asset", aliases: []string{"file"}, behave: asset{}, kind: KindNested},
	{name: "indexed_asset", class: "IndexedAsset", aliases: []string{"indexed_file"}, behave: asset{}, kind: KindNested},

	{name: "jsonmenu", class: "JsonMenuNestedEditor", aliases: []string{"json_menu_nested"}, behave: menu{}, kind: KindText},
	{name: "jsonmenu_legacy", class: "JsonMenuEditor", aliases: []string{"json_menu"}, behave: menu{}, kind: KindText},
	{name: "jsonmenu_link", class: "JsonMenuNestedLink", behave: choice{}, kind: KindKeyword},
	{name: "jsonmenu_link_legacy", class: "JsonMenuLink", behave: choice{}, kind: KindKeyword},

	{name: "json", class: "JSON", behave: anything{}, kind: KindDynamic},
	{name: "hidden", class: "Hidden", behave: anything{}, kind: KindNone},
	{name: "computed", class: "Computed", behave: anything{}, kind: KindDynamic, derived: true},
	{name: "copy_to", class: "CopyTo", behave: nothing{}, kind: KindText},
	{name: "subfield", class: "Sub", behave: nothing{}, kind: KindText},
	{name: "action", class: "Action", behave: nothing{}},
}

// unknownType is the row of a field type that the table does not know: any
// JSON goes in, and comes back unchanged.
var unknownType = fieldType{behave: anything{}, kind: KindDynamic}

// typeByName finds a row by short name, alias, or class name with or without
// its namespace.
func typeByName(name string) (*fieldType, bool) {
	class := name[strings.LastIndexByte(name, '\\')+1:]
	class = strings.TrimSuffix(class, "FieldType")
	if class == "SubfieldType" { // the only class that is spelled differently
		class = "Sub"
	}
	for i := range fieldTypes {
		t := &fieldTypes[i]
		if t.name == name || t.class == class {
			return t, true
		}
		for _, a := range t.aliases {
			if a == name {
				return t, true
			}
		}
	}
	return &unknownType, false
}

const classPrefix = `EMS\CoreBundle\Form\DataField\`

// className gives the full class name of a type for the export form.
func className(t *fieldType, name string) string {
	switch t.name {
	case "":
		return name
	case "subfield":
		return classPrefix + "SubfieldType"
	}
	return classPrefix + t.class + "FieldType"
}
