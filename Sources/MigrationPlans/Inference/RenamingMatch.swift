import CompactCollections

/// An entity or property that may have another name in another version of the model.
package struct Renameable {
    package let name: String
    /// The canonical name: its first one.
    package let identifier: String

    init(name: String, identifier: String) {
        self.name = name
        self.identifier = identifier
    }

    /// - Parameters:
    ///   - name: the name of the entity or property.
    ///   - identifier: the renaming identifier; nil for the name itself.
    package init(_ name: String, _ identifier: String?) { self.init(name: name, identifier: identifier ?? name) }
}

/// Finds the names of entities, or an entity's properties, of one version in the other.
package enum RenamingMatch {
    /// The names in the source, by the names in the destination.
    ///
    /// A renaming identifier is a canonical name, so that equal ones belong together, over any number of versions. Next
    /// come a destination that is identified by the source's present name, and equal names: removing an identifier
    /// again must not lose data.
    package static func sources(of destinations: [Renameable], in sources: [Renameable]) -> [String: String] {
        var found: [String: String] = [:]
        var open = Set(sources.map(\.name))
        func match(
            _ key: (Renameable) -> String, _ sourceKey: (Renameable) -> String,
            where isSame: (Renameable, Renameable) -> Bool = { _, _ in true }
        ) {
            let candidates = Dictionary(grouping: sources, by: sourceKey)
            for destination in destinations where found[destination.name] == nil {
                let source = candidates[key(destination)]?.first {
                    open.contains($0.name) && isSame(destination, $0)
                }
                guard let source else { continue }
                found[destination.name] = source.name
                open.remove(source.name)
            }
        }
        // An entity or property that was not renamed stays itself, even if another one has its identifier.
        match(\.name, \.name) { $0.identifier == $1.identifier }
        match(\.identifier, \.identifier)
        match(\.identifier, \.name)
        match(\.name, \.name)
        return found
    }

    /// The names in the destination, by the names in the source. Each has one at most.
    static func successors(_ sources: [String: String]) -> [String: String] {
        Dictionary(sources.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The same for attributes, and for elements of a composite attribute: several may take the values of one, if the
    /// identifier of each says so.
    package static func attributeSources(
        of destinations: [Renameable], in sources: [Renameable]
    ) -> [String: String] {
        var found = self.sources(of: destinations, in: sources)
        let open = destinations.filter { found[$0.name] == nil && $0.identifier != $0.name }
        guard !open.isEmpty else { return found }
        func names(_ key: (Renameable) -> String) -> [String: String] {
            Dictionary(sources.map { (key($0), $0.name) }, uniquingKeysWith: { first, _ in first })
        }
        let (byIdentifier, byName) = (names(\.identifier), names(\.name))
        for destination in open {
            found[destination.name] = byIdentifier[destination.identifier] ?? byName[destination.identifier]
        }
        return found
    }
}
