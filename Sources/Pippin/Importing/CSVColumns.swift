import CompactCollections

/// The header of a CSV file: the names of its columns, checked against the model.
struct CSVColumns {
    let names: [String]
    /// The places of the columns that count, by name.
    let places: [String: Int]
    /// The columns of properties within a property, by that one's name: those of `author` are `author.name` and
    /// `author.address.city`.
    let inner: [String: [String]]
    /// How deep properties may be within each other. The name is noted for each level.
    private static let mostLevels = 100

    /// - Parameters:
    ///   - header: the file's first record.
    ///   - plan: the model's properties.
    ///   - registry: the models that are known.
    ///   - ignored: the columns to leave out, which the model need not have.
    ///   - path: the file's path, for errors.
    /// - Throws: ``PersistenceError/Code/fileNotReadable`` for a header that cannot be read, and for a duplicate
    ///   column; ``PersistenceError/Code/unknownColumns``.
    init(
        _ header: CSVRecords.Line, of plan: EntityPlan, in registry: ModelRegistry, ignoring ignored: Set<String>,
        path: String
    ) throws {
        if let problem = header.problem {
            throw PersistenceError.fileNotReadable(
                path: path, reason: "Line \(header.number), field \(problem.field + 1): \(problem.reason).")
        }
        names = header.fields
        places = Dictionary(
            names.enumerated().filter { !ignored.contains($1) }.map { ($1, $0) },
            uniquingKeysWith: { first, _ in first })
        var seen: Set<String> = []
        if let double = names.first(where: { !seen.insert($0).inserted && !ignored.contains($0) }) {
            throw PersistenceError.fileNotReadable(path: path, reason: "It has the column “\(double)” twice.")
        }
        var unknown: [String] = []
        var inner: [String: [String]] = [:]
        for name in names where !ignored.contains(name) {
            let keys = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            guard try keys.count <= Self.mostLevels && Self.isKnown(keys[...], plan.record, registry) else {
                unknown.append(name)
                continue
            }
            for dot in name.indices where name[dot] == "." { inner[String(name[..<dot]), default: []].append(name) }
        }
        self.inner = inner
        if !unknown.isEmpty {
            throw PersistenceError.unknownColumns(unknown, type: plan.record.name, known: Array(plan.record.keys))
        }
    }

    /// Whether a column belongs to the record: as a property, or as a property of a record within it.
    private static func isKnown(_ keys: ArraySlice<String>, _ record: RecordPlan, _ registry: ModelRegistry) throws
        -> Bool
    {
        guard let key = keys.first, let field = record.fields.first(where: { $0.key == key }) else { return false }
        let rest = keys.dropFirst()
        if rest.isEmpty { return true }
        switch field.kind {
        case .composite(let inner): return try isKnown(rest, inner, registry)
        // A value stored as JSON has keys that no plan knows.
        case .json: return true
        case .toOne(let model): return try !model.isReference && isKnown(rest, registry.plan(model).record, registry)
        case .attribute, .toMany: return false
        }
    }
}
