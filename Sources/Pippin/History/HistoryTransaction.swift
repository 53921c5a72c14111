import StoreSession

/// A place in a store's history: after a transaction.
///
/// It can be coded, so that a program goes on where it ended the last time.
public struct HistoryToken: Codable, Hashable, Sendable {
    /// The UUID of the store.
    let store: String
    /// The number of the transaction.
    let number: Int64
}

/// What was saved at once, by this program or another one.
public struct HistoryTransaction: Sendable {
    let recorded: RecordedTransaction
    let registry: ModelRegistry
    let identifiers: HistoryIdentifiers

    /// The place after this transaction.
    public var token: HistoryToken { HistoryToken(store: recorded.store, number: recorded.row.number) }

    /// When it was saved, by the clock of the machine that did it.
    public var date: Date { Date(timeIntervalSinceReferenceDate: recorded.row.timestamp) }

    /// Who saved it: the `author` of the store's location; nil where that names nobody.
    public var author: String? { recorded.row.author }

    /// The name of the process that saved it.
    public var program: String { recorded.row.processID }

    /// The changes of models of a type, in the order in which they were written.
    ///
    /// ```swift
    /// for change in try transaction.changes(of: Book.self) where change.kind == .changed { … }
    /// ```
    ///
    /// - Parameter type: the models' type.
    /// - Returns: the changes; none for a type whose models stayed as they were.
    /// - Throws: ``PersistenceError/Code/unknownModel`` for a type that the manager was made without.
    public func changes<Model: CoreModel>(of type: Model.Type) throws -> [HistoryChange<Model>] {
        let plan = try registry.plan(of: type)
        return recorded.changes.compactMap { HistoryChange(recorded: $0, plan: plan, self) }
    }
}

/// A change of a model in a store's history.
public struct HistoryChange<Model: CoreModel>: Sendable {
    /// What happened to a model.
    public enum Kind: Hashable, Sendable { case inserted, changed, deleted }

    /// What happened to the model.
    public let kind: Kind
    /// The names of the properties that changed; nil for a model that was inserted or deleted, and where the change was
    /// made with other models, so that nobody knows.
    public let properties: [String]?

    private let recorded: RecordedChange
    private let plan: EntityPlan
    private let registry: ModelRegistry
    private let identifiers: HistoryIdentifiers

    /// - Returns: nil for a change of another entity, and one of properties that the model does not have.
    init?(recorded: RecordedChange, plan: EntityPlan, _ transaction: HistoryTransaction) {
        guard recorded.objectID.layout.name == plan.name else { return nil }
        properties = recorded.names.map { names in
            plan.fields.filter { $0.mark == nil && names.contains($0.name) }.map(\.property)
        }
        if let properties, properties.isEmpty { return nil }
        switch recorded.kind {
        case .insert: kind = .inserted
        case .update: kind = .changed
        case .delete: kind = .deleted
        }
        (self.recorded, self.plan) = (recorded, plan)
        (registry, identifiers) = (transaction.registry, transaction.identifiers)
    }

    /// The model's identifier; nil for a deleted one of which the program that deleted it kept no values.
    public var id: Model.ID? {
        let key = plan.uidKey
        let known = recorded.current[key] ?? recorded.former[key] ?? recorded.others[key]
        guard case .value(let value)? = known else { return nil }
        return try? AttributeDecoder.value(Model.ID.self, value, entity: plan.name, key: key)
    }

    /// What a property was before the change and afterwards.
    ///
    /// ```swift
    /// if let price = try change.values(of: \.price) { print("\(price.old) became \(price.new)") }
    /// ```
    ///
    /// - Parameter property: a single value of the model, or a reference's identifier (`\.author.id`).
    /// - Returns: the values; nil where the property stayed as it was. A value that nobody kept is nil, too.
    /// - Throws: ``PersistenceError`` with `unknownProperty` for a property that is not a single stored value, and
    ///   `unreadable` for a value that is not of the property's type.
    public func values<Value: Codable>(of property: KeyPath<Model, Value>) throws -> ChangedValue<Value>? {
        let (asked, reason) = (
            PropertyName(property), "The history tells a model's own single values, and the identifiers of references."
        )
        let names = try registry.singleValue(asked, of: plan, reason).path.split(separator: ".").map(String.init)
        guard let name = names.first else { return nil }
        if let related = plan.fields.first(where: { $0.name == name })?.related {
            guard names == [name, try registry.plan(related).uidKey] else {
                throw PersistenceError.noSingleValue(
                    asked.spelling, entity: plan.name, known: plan.propertyNames, reason)
            }
        }
        if let changed = recorded.names, !changed.contains(name) { return nil }
        let (old, new) = (
            try value(recorded.former[name], names, Value.self), try value(recorded.current[name], names, Value.self)
        )
        return kind == .changed && old == nil && new == nil && recorded.names == nil
            ? nil : ChangedValue(old: old, new: new)
    }

    private func value<Value: Decodable>(
        _ kept: KeptValue?, _ names: [String], _ type: Value.Type
    ) throws -> Value? {
        guard case .value(var value)? = kept else { return nil }
        switch value {
        case .identifier(let identifier):
            // Nobody knows the identifier of a model that is gone, and whose deletion is not kept.
            guard let known = identifiers.values[identifier] else { return nil }
            value = known
        case .object(let composite as CompositeValue):
            let layout = recorded.objectID.layout
            guard let slot = layout.slotIndex(forName: names[0]),
                let leaf = names.dropFirst().reduce(
                    layout.slots[slot].attribute,
                    { attribute, name in
                        attribute?.elements.first { $0.name == name }
                    })
            else { return nil }
            value = composite.stored(at: names[1...], leaf)
        default: break
        }
        return try AttributeDecoder.value(type, value, entity: plan.name, key: names.joined(separator: "."))
    }
}

/// What a property was before a change and afterwards.
public struct ChangedValue<Value> {
    /// What it was before; nil for a new model, and where that was not kept.
    public let old: Value?
    /// What it was afterwards; nil for a deleted model, and where later changes have not kept it.
    public let new: Value?

    /// A value before and after a change, to compare with.
    ///
    /// - Parameters:
    ///   - old: what it was before.
    ///   - new: what it was afterwards.
    public init(old: Value?, new: Value?) { (self.old, self.new) = (old, new) }
}

extension ChangedValue: Sendable where Value: Sendable {}
extension ChangedValue: Equatable where Value: Equatable {}

/// The identifiers of the models that references in some transactions lead to.
struct HistoryIdentifiers: Sendable {
    var values: [NSManagedObjectID: StoredValue] = [:]

    init(of transactions: [RecordedTransaction], _ registry: ModelRegistry, _ session: StoreSession) throws {
        let keys = Dictionary(registry.plans.map { ($0.name, $0.uidKey) }, uniquingKeysWith: { first, _ in first })
        var wanted: Set<NSManagedObjectID> = []
        for change in transactions.flatMap(\.changes) {
            for case .value(.identifier(let identifier)) in [change.former, change.current].flatMap(\.values) {
                wanted.insert(identifier)
            }
            guard let key = keys[change.objectID.layout.name], case .value(let value)? = change.former[key] else {
                continue
            }
            values[change.objectID] = value
        }
        for row in try session.rows(for: Array(wanted)) {
            let layout = row.objectID.layout
            guard let slot = keys[layout.name].flatMap({ layout.slotIndex(forName: $0) }) else { continue }
            values[row.objectID] = row.values[slot]
        }
    }
}
