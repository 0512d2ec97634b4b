package api

// Request headers by which a client identifies itself.
const (
	ClientHeader   = "Tandem-Client"
	VersionHeader  = "Tandem-Version"
	ProtocolHeader = "Tandem-Protocol"
	OwnerHeader    = "Tandem-Owner"
)

// IgnoredHeader is the response header that lists input fields unknown to the engine and ignored,
// because the client is of a newer release.
const IgnoredHeader = "Tandem-Ignored"
