package api

// A Bulky output has members that may be large and can be sent next to its JSON: texts, or bytes
// (base64 in JSON).
type Bulky interface {
	// Bulk returns the members, pointing into the output.
	Bulk() []Member
}

// A Member is a text or bytes; either Text or Data is set.
type Member struct {
	Name string // in JSON
	Text *string
	Data *[]byte
}
