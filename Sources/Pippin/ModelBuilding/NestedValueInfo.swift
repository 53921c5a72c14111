/// What derived models say of nested values in the user info of their attributes: it is no part of a version, and migration, which
/// knows nothing of structs, can go by it. `CoreData` reads it by the same names.
enum NestedValueInfo {
    /// How a binary attribute's bytes are to be read: as `json`.
    static let coding = "PippinCoding"
    static let json = "JSON"
    /// Whether each object has the nested value that a composite attribute holds: `always` or `sometimes`, or
    /// `initially`: those that were there before the attribute have its default value.
    static let presence = "PippinPresence"
    static let always = "always"
    static let sometimes = "sometimes"
    static let initially = "initially"
    /// The coding key of an element whose name differs from it.
    static let key = "PippinKey"
    /// Set on the element that says that a nested value is there.
    static let isMark = "PippinMark"
}
