/// The property that a key path reads, or a path of several: `author.name`.
struct PropertyName: Sendable, Hashable {
    /// The properties' names; nil for a computed property, which a store does not have.
    let path: String?
    /// The key path as Swift prints it, for messages.
    let spelling: String

    /// - Parameter path: the properties' names.
    init(path: String) { (self.path, spelling) = (path, path) }

    /// The property that a key path reads. Those of key paths that were asked for before are kept: printing one takes
    /// longer than a short fetch.
    init(_ keyPath: AnyKeyPath) { self = PropertyNames.shared.name(of: keyPath) }

    fileprivate init(printing keyPath: AnyKeyPath) {
        let (root, value) = (type(of: keyPath).rootType, type(of: keyPath).valueType)
        // Swift prints a property that takes no memory as the one that begins at the same place.
        guard Self.size(of: value) > 0 else {
            (path, spelling) = (nil, "\\\(root).<property of type \(value)>")
            return
        }
        let printed = "\(keyPath)"
        spelling = Self.readable(printed)
        path = Self.path(in: printed, root: "\(root)") ?? Self.observed(root)[keyPath] ?? Self.identifier(keyPath, root)
    }

    /// The identifier, as generic code names it, whose key path is that of the protocol's requirement.
    private static func identifier(_ keyPath: AnyKeyPath, _ root: Any.Type) -> String? {
        func isIdentifier<Model: Identifiable>(_ type: Model.Type) -> Bool { keyPath == \Model.id }
        guard let model = root as? any Identifiable.Type else { return nil }
        return isIdentifier(model) ? "id" : nil
    }

    private static func observed(_ root: Any.Type) -> [AnyKeyPath: String] {
        (root as? any ObservedProperties.Type)?.observedProperties ?? [:]
    }

    private static func size<Value>(of type: Value.Type) -> Int { MemoryLayout<Value>.size }

    /// A key path printed without addresses, which mean nothing to a reader: `\Book.<computed property of type Int>`.
    static func readable(_ printed: String) -> String {
        var readable = ""
        var rest = Substring(printed)
        while let start = rest.range(of: "<computed "), let end = rest[start.upperBound...].range(of: ")>") {
            let inside = rest[start.upperBound..<end.lowerBound]
            let type = inside.range(of: "(").map { inside[$0.upperBound...] } ?? inside
            readable += rest[..<start.lowerBound] + "<computed property of type \(type)>"
            rest = rest[end.upperBound...]
        }
        return readable + rest
    }

    /// The path in a printed key path. Swift prints `\Person.author?.name?`, and an address for a computed property.
    static func path(in spelling: String, root: String) -> String? {
        let prefix = "\\\(root)."
        guard !spelling.contains("<computed"), let dot = spelling.firstIndex(of: ".") else { return nil }
        let rest = spelling.hasPrefix(prefix) ? spelling.dropFirst(prefix.count) : spelling[dot...].dropFirst()
        let path = rest.filter { $0 != "?" && $0 != "!" }
        return path.isEmpty ? nil : path
    }
}

/// The properties of key paths, which a program has few of: the compiler makes one object of each that it writes down.
private final class PropertyNames: Sendable {
    static let shared = PropertyNames()

    /// Those that are made while the program runs could be many.
    private static let most = 1_000

    /// By the object's identity; the key path is kept, so that no other one gets its address.
    private let names = Locked<[ObjectIdentifier: (keyPath: AnyKeyPath, name: PropertyName)]>([:])

    func name(of keyPath: AnyKeyPath) -> PropertyName {
        if let known = names.withLock({ $0[ObjectIdentifier(keyPath)]?.name }) { return known }
        let name = PropertyName(printing: keyPath)
        names.withLock { names in
            if names.count < Self.most { names[ObjectIdentifier(keyPath)] = (keyPath, name) }
        }
        return name
    }
}
