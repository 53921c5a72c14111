/// Keys and values in the user info of derived models' attributes, for nested values. User info is not part of a
/// version, and lets migration, which knows nothing of structs, handle them. `CoreData` reads it by the same names.
enum NestedValueInfo {
    /// How a binary attribute's bytes are to be read, such as `json`.
    static let coding = "PippinCoding"
    static let json = "JSON"
    /// Whether each object has the nested value of a composite attribute: `always`, `sometimes`, or `initially` if only
    /// the objects older than the attribute have it, with its default value.
    static let presence = "PippinPresence"
    static let always = "always"
    static let sometimes = "sometimes"
    static let initially = "initially"
    /// The coding key of an element whose name differs from it.
    static let key = "PippinKey"
    /// Set on the element that marks the nested value as present.
    static let isMark = "PippinMark"
    /// The list of models that an attribute marks as present.
    static let markedList = "PippinMarkedList"
}
