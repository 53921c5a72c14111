/// What the generated accessors of a managed declaration do: the key, and what a method calls of the run-time part
/// (`CoreData/Objects/ManagedAccessors…`).
struct AccessorCall {
    let key: String
    /// The statement of a method.
    private(set) var body = ""

    /// - Returns: a call without a body for a method that Core Data has no accessor for; `isSupported` tells.
    init(_ declaration: ManagedDeclaration) {
        guard case .method(let parameters, let result) = declaration.kind else {
            key = declaration.plainName
            isSupported = true
            return
        }
        let labels = parameters.map(\.label)
        let names = parameters.map(\.name)
        for form in Self.forms where form.labels == labels {
            guard let key = Self.key(in: declaration.plainName, form), (result == nil) != form.returns else { continue }
            self.key = key
            isSupported = true
            let arguments = zip(names, form.argumentLabels).map { name, label in (label.map { $0 + ": " } ?? "") + name
            }
            body = "\(form.call)(\((arguments + ["for: " + PropertyKeys.reference(to: key)]).joined(separator: ", ")))"
            return
        }
        key = declaration.plainName
        isSupported = false
    }

    let isSupported: Bool

    // MARK: The methods that Core Data supplies

    private struct Form {
        var prefix: String
        var suffix = ""
        var labels: [String?]
        var call: String
        var argumentLabels: [String?]
        var returns = false
    }

    private static let forms = [
        Form(prefix: "addTo", labels: [nil], call: "managedAdd", argumentLabels: [nil]),
        Form(prefix: "removeFrom", labels: [nil], call: "managedRemove", argumentLabels: [nil]),
        Form(prefix: "insertInto", labels: [nil, "at"], call: "managedInsert", argumentLabels: [nil, "at"]),
        Form(prefix: "removeFrom", labels: ["at"], call: "managedRemove", argumentLabels: ["at"]),
        Form(prefix: "replace", labels: ["at", "with"], call: "managedReplace", argumentLabels: ["at", "with"]),
        // As mogenerator and older templates name them.
        Form(prefix: "add", suffix: "Object", labels: [nil], call: "managedAdd", argumentLabels: [nil]),
        Form(prefix: "remove", suffix: "Object", labels: [nil], call: "managedRemove", argumentLabels: [nil]),
        Form(prefix: "add", labels: [nil], call: "managedAdd", argumentLabels: [nil]),
        Form(prefix: "remove", labels: [nil], call: "managedRemove", argumentLabels: [nil]),
        Form(prefix: "primitive", labels: [], call: "managedPrimitiveValue", argumentLabels: [], returns: true),
        Form(prefix: "setPrimitive", labels: [nil], call: "setManagedPrimitiveValue", argumentLabels: [nil]),
    ]

    /// `books` for `addToBooks`, `nil` if the method has another name.
    private static func key(in name: String, _ form: Form) -> String? {
        guard name.hasPrefix(form.prefix), name.hasSuffix(form.suffix) else { return nil }
        let key = name.dropFirst(form.prefix.count).dropLast(form.suffix.count)
        guard let first = key.first, first.isUppercase || !first.isLetter else { return nil }
        return first.lowercased() + key.dropFirst()
    }
}
