import StoreSession

/// Values of models, without the models: what a fetch of some properties reads.
struct SelectedValues: Sendable {
    let plan: EntityPlan
    let paths: [AttributePath]

    /// - Parameters:
    ///   - properties: the properties.
    ///   - plan: the models' entity.
    ///   - registry: tells what models consist of.
    /// - Throws: ``PersistenceError/Code/unknownProperty`` for a property that is not a plain attribute.
    init(_ properties: [PropertyName], _ plan: EntityPlan, _ registry: ModelRegistry) throws {
        self.plan = plan
        paths = try properties.map { property in
            let (path, kind) = try registry.singleValue(
                property, of: plan,
                "Values that are fetched by themselves are single ones: numbers, texts, dates, UUIDs, URLs, data, "
                    + "enumerations with raw values, and references; of a model its properties. Fetch the whole model.")
            return AttributePath(path: path, kind: kind, relationships: try registry.relationships(of: path, in: plan))
        }
    }

    /// The values of each model that a selection finds, in order.
    ///
    /// - SQL: `SELECT <properties> FROM Z<ENTITY> WHERE <filter> ORDER BY <order> LIMIT <limit>`
    func tuples<each Value: Decodable>(
        _ types: repeat (each Value).Type, of selection: RecordSelection, in source: any StructRows
    ) throws -> [(repeat each Value)] {
        // Core Data would take a limit of 0 for no limit.
        if selection.limit.map({ $0 <= 0 }) ?? false { return [] }
        var tuples: [(repeat each Value)] = []
        try source.readTuples(of: plan, selection, at: paths) { try append($0, to: &tuples) }
        return tuples
    }

    /// Adds the tuples of some models. Swift looks up the types of a parameter pack in each closure, and whenever an
    /// element is added to an array, which takes longer than to make a tuple; so this makes many at a time.
    @inline(never)
    private func append<each Value: Decodable>(
        _ values: ContiguousArray<StoredValue>, to tuples: inout [(repeat each Value)]
    ) throws {
        var reader = ValueReader(values, self)
        tuples += try Array(unsafeUninitializedCapacity: values.count / paths.count) { memory, count in
            while count < memory.count {
                memory.initializeElement(at: count, to: (repeat try reader.next() as each Value))
                count += 1
            }
        }
    }
}

/// The values of some models, one after the other.
private struct ValueReader {
    let values: ContiguousArray<StoredValue>
    let selected: SelectedValues
    private var place = 0

    init(_ values: ContiguousArray<StoredValue>, _ selected: SelectedValues) {
        (self.values, self.selected) = (values, selected)
    }

    mutating func next<Value: Decodable>() throws -> Value {
        defer { place += 1 }
        return try AttributeDecoder.value(
            Value.self, values[place], entity: selected.plan.name,
            key: selected.paths[place % selected.paths.count].path)
    }
}
