package api

// What a client says of itself with every request.
const (
	ClientHeader   = "Tandem-Client"
	VersionHeader  = "Tandem-Version"
	ProtocolHeader = "Tandem-Protocol"
	OwnerHeader    = "Tandem-Owner"
)

// IgnoredHeader of an answer names the fields of the input that the engine does
// not know and has done without: the client is of a newer release.
const IgnoredHeader = "Tandem-Ignored"
