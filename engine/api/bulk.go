package api

// A Bulky output has members that may be large: texts, or bytes, which are
// base64 in its JSON.
type Bulky interface {
	// Bulk tells their names in JSON, and where they are.
	Bulk() []Member
}

// A Member is a text or bytes.
type Member struct {
	Name string
	Text *string // one of these is set
	Data *[]byte
}
