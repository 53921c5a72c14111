import CoreData

/// Makes models of rows, with the models in them.
///
/// A model that contains itself, some steps down, comes there without its relationships: values cannot go round in circles. Saving
/// such a value changes nothing, since the nearest one counts.
final class ModelAssembler: RelatedRows {
    private let registry: ModelRegistry
    private let source: any RowSource
    private var loader: RelatedRowLoader
    /// Decoders not in use: one is needed for each model around the current one.
    private var idle: [ObjectIdentifier: [RowDecoder]] = [:]
    /// The objects whose models are being made, outermost first.
    private var path: [NSManagedObjectID] = []

    init(registry: ModelRegistry, source: any RowSource) {
        self.registry = registry
        self.source = source
        loader = RelatedRowLoader(registry: registry, source: source)
    }

    /// The models that are selected, in order.
    func models<Model: StructModel>(
        _ type: Model.Type, of plan: EntityPlan, _ selection: RecordSelection
    ) throws -> [Model] {
        guard plan.relationships.isEmpty else {
            return try models(type, of: plan, try source.rows(of: plan, selection))
        }
        // Nothing to load besides: each row becomes its model at once.
        let decoder = try takeDecoder(of: plan)
        defer { decoder.finish() }
        var models = ModelBuffer<Model>()
        let uidSlot = try source.slots(of: plan)[plan.uidField]
        try source.forEachRow(of: plan, selection) { row in
            do {
                models.append(try decoder.decode(type, from: row))
            } catch {
                throw named(error, try? row.value(at: uidSlot), plan)
            }
        }
        return models.take()
    }

    /// The models of rows, in order.
    func models<Model: StructModel>(
        _ type: Model.Type, of plan: EntityPlan, _ rows: ContiguousArray<Row>
    ) throws -> [Model] {
        try loader.load(rows, of: plan)
        let decoder = try takeDecoder(of: plan)
        defer {
            decoder.finish()
            // Decoders refer to the assembler, and to themselves.
            for decoder in idle.values.joined() { decoder.finish() }
            idle = [:]
        }
        var models: [Model] = []
        models.reserveCapacity(rows.count)
        for row in rows {
            path = [row.objectID]
            do { models.append(try decoder.decode(type, from: row)) } catch {
                throw named(error, row, plan)
            }
        }
        return models
    }

    /// An error of decoding, with the identifier of the model that it is about.
    private func named(_ error: any Error, _ row: Row, _ plan: EntityPlan) -> any Error {
        named(error, (try? source.slots(of: plan)[plan.uidField]).map { row.values[$0] }, plan)
    }

    private func named(_ error: any Error, _ uid: StoredValue?, _ plan: EntityPlan) -> any Error {
        guard
            let uid = uid?.attributeValue(plan.record.attributeKinds[plan.uidField] ?? .string)
        else { return error }
        switch error {
        case PersistenceError.unreadable(let entity, nil, let key, let reason):
            return PersistenceError.unreadable(entity: entity, uid: "\(uid)", key: key, reason: reason)
        case is PersistenceError: return error
        default:
            return PersistenceError.unreadable(
                entity: plan.name, uid: "\(uid)", key: "", reason: "init(from:) says: \(error.decodingReason)")
        }
    }

    func model<Value: Decodable>(_ type: Value.Type, _ field: Int, of decoder: RowDecoder) throws -> Value? {
        guard case .identifier(let identifier) = decoder.values[decoder.slots[field]] else { return nil }
        let plan = decoder.record.fields[field]
        guard !isCut || !plan.isOptional, let related = plan.related else { return nil }
        return try model(type, identifier, related)
    }

    func models<Value: Decodable>(_ type: Value.Type, _ field: Int, of decoder: RowDecoder) throws -> Value? {
        let plan = decoder.record.fields[field]
        guard let identifier = decoder.objectID, let related = plan.related else { return nil }
        let known = isCut ? [] : loader.destinations[identifier]?[field] ?? []
        let present = known.filter { loader.rows[$0] != nil }
        if present.isEmpty, plan.isOptional { return nil }
        return try Value(from: ModelsDecoder(identifiers: present, related: related, assembler: self))
    }

    /// The model, or the reference, of an object; nil where it is gone.
    fileprivate func model<Value: Decodable>(
        _ type: Value.Type, _ identifier: NSManagedObjectID, _ related: RelatedModel
    ) throws -> Value? {
        guard let row = loader.rows[identifier] else { return nil }
        let plan = try registry.plan(related)
        if related.isReference {
            let slot = try source.slots(of: plan)[plan.uidField]
            return try Value(from: ValueDecoder(value: row.values[slot], entity: plan.name, key: plan.uidKey))
        }
        let decoder = try takeDecoder(of: plan)
        path.append(identifier)
        defer {
            path.removeLast()
            idle[plan.id, default: []].append(decoder)
        }
        do { return try decoder.decode(type, from: row) } catch { throw named(error, row, plan) }
    }

    /// Whether the model being made is within itself.
    private var isCut: Bool { path.last.map { path.dropLast().contains($0) } ?? false }

    private func takeDecoder(of plan: EntityPlan) throws -> RowDecoder {
        if let decoder = idle[plan.id]?.popLast() { return decoder }
        return RowDecoder(plan.record, entity: plan.name, slots: try source.slots(of: plan), related: self)
    }
}

/// Decodes an array or a set of models.
private struct ModelsDecoder: Decoder, UnkeyedDecodingContainer {
    let identifiers: [NSManagedObjectID]
    let related: RelatedModel
    let assembler: ModelAssembler
    var currentIndex = 0
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    var count: Int? { identifiers.count }
    var isAtEnd: Bool { currentIndex == identifiers.count }

    init(identifiers: [NSManagedObjectID], related: RelatedModel, assembler: ModelAssembler) {
        self.identifiers = identifiers
        self.related = related
        self.assembler = assembler
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { self }
    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> { throw form }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw form }

    mutating func decodeNil() throws -> Bool { false }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard !isAtEnd, let value = try assembler.model(type, identifiers[currentIndex], related) else { throw form }
        currentIndex += 1
        return value
    }

    mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw form
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw form }
    mutating func superDecoder() throws -> any Decoder { throw form }

    private var form: PersistenceError {
        .unreadable(
            entity: "\(related.type)", key: "", reason: "its collection is decoded differently from the first time.")
    }
}
