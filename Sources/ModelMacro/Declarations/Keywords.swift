/// The words of Swift by which members are told apart.
enum Keywords {
    static let access: Set<String> = ["public", "package", "internal", "fileprivate", "private", "open"]

    static let modifiers = access.union([
        "static", "class", "final", "lazy", "weak", "unowned", "mutating", "nonmutating", "nonisolated", "override",
        "convenience", "required", "indirect", "dynamic", "isolated", "borrowing", "consuming", "distributed",
        "prefix", "postfix", "infix", "optional", "async", "unsafe", "safe",
    ])

    static let declarations: Set<String> = [
        "var", "let", "func", "init", "deinit", "subscript", "struct", "enum", "class", "actor", "extension",
        "typealias", "associatedtype", "protocol", "import", "case", "operator", "precedencegroup", "macro",
    ]

    /// The attributes of a property that leave its coding as it is.
    static let plainAttributes: Set<String> = ["available", "deprecated", "usableFromInline", "nonobjc", "objc"]

    static let observers: Set<String> = ["willSet", "didSet"]
}
