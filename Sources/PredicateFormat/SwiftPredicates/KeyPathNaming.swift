/// A type that knows the names in its key paths, since the key path of an `@NSManaged` property has none of its own.
package protocol KeyPathNaming {
    /// The keys that a key path reads, one after the other; nil if they have no names.
    static func keys(of keyPath: AnyKeyPath) -> [String]?
}

/// The keys that a key path reads: for stored properties, those from the compiler; empty for one that reads the value
/// itself.
package func keys(of keyPath: AnyKeyPath) -> [String]? {
    if keyPath.readsValueItself { return [] }
    if let type = type(of: keyPath).rootType as? any KeyPathNaming.Type { return type.keys(of: keyPath) }
    // `\Track.album?.name?`; a computed property has an address instead of a name.
    let description = keyPath.debugDescription
    guard !description.contains("<computed"), let start = description.firstIndex(of: ".") else { return nil }
    let root = "\(type(of: keyPath).rootType)"
    let prefix = "\\\(root)."
    let path = description.hasPrefix(prefix) ? description.dropFirst(prefix.count) : description[start...].dropFirst()
    let keys = path.split(separator: ".").map { $0.filter { $0 != "?" && $0 != "!" } }
    return keys.contains("") ? nil : keys.withoutSelf
}

extension AnyKeyPath {
    /// The keys that the key path reads, joined by dots; `self` for one that reads the value itself, and `nil` if they
    /// have no names.
    ///
    /// Swift only knows names of Objective-C's properties. Much code uses this property to make predicates and sort
    /// descriptors from `@NSManaged` properties; this declaration takes precedence over the standard library's.
    public var _kvcKeyPathString: String? {
        if readsValueItself { return "self" }
        return keys(of: self).map { $0.joined(separator: ".") }
    }

    fileprivate var readsValueItself: Bool {
        let type = Swift.type(of: self)
        return type.rootType == type.valueType && debugDescription.hasSuffix(".self")
    }
}
