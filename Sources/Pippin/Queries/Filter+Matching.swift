import StoreSession

extension Filter where Model: CoreModel {
    /// Whether the filter selects a model in memory, with the same result as in a store.
    ///
    /// ```swift
    /// let cheap: Filter<Book> = \.price < 20
    /// try cheap.matches(emma)
    /// ```
    ///
    /// The first model that a filter is tried on takes three times as long as the others: try the same filter on all.
    ///
    /// - Parameter model: the model.
    /// - Returns: whether the filter selects the model.
    /// - Throws: ``PersistenceError`` for a filter that a store would refuse as well, and
    ///   ``PersistenceError/Code/notComparable`` if the result depends on more of a model behind a ``Reference`` than
    ///   its identifier, which a store alone knows.
    public func matches(_ model: Model) throws -> Bool {
        let test = try test.made { try ModelTest(self) }
        guard let predicate = test.predicate else { return true }
        let stored = StoredValues(test.model.registry, test.reads)
        let values = try stored.dictionary(of: model, test.model.plan)
        let isMatch = try PersistenceError.explaining(.readFailed) { try test.model.evaluate(predicate, values) }
        if let (entity, property) = stored.unknown.first {
            throw PersistenceError.behindReference(property: property, entity: entity)
        }
        return isMatch
    }
}

/// What a filter in memory makes of its term for the first model, and keeps for the others.
final class KeptModelTest: Sendable {
    private let kept = Locked<ModelTest?>(nil)

    fileprivate func made(_ make: () throws -> ModelTest) throws -> ModelTest {
        if let known = kept.withLock({ $0 }) { return known }
        let test = try make()
        kept.withLock { $0 = test }
        return test
    }
}

/// A filter as a predicate for dictionaries of a model's values.
private struct ModelTest: @unchecked Sendable {
    // @unchecked Sendable: a predicate does not change once it is made.
    let model: KnownModel
    /// Nil for a filter that selects every model.
    let predicate: NSPredicate?
    let reads: ReadNames

    init<Model: CoreModel>(_ filter: Filter<Model>) throws {
        let model = try KnownModel.of(Model.self)
        self.model = model
        predicate = try filter.predicate(model.plan, model.registry)
        reads =
            try predicate.map { predicate in
                try PersistenceError.explaining(.readFailed) { try model.reads(of: predicate) }
            } ?? ReadNames()
    }
}

/// What a predicate reads of a model, at most: it follows no relationships but those whose names it has, and not more
/// in a row than it has names.
private struct ReadNames {
    /// Nil for a predicate that may read anything.
    var names: Set<String>?
    var depth = 500
}

/// Models as dictionaries of their attributes' values, for predicates in memory.
private struct StoredValues {
    private let registry: ModelRegistry
    private let reads: ReadNames
    /// What was asked for behind references, and is not known.
    let unknown = UnknownReads()

    init(_ registry: ModelRegistry, _ reads: ReadNames) { (self.registry, self.reads) = (registry, reads) }

    func dictionary(of model: some CoreModel, _ plan: EntityPlan, depth: Int = 0) throws -> NSDictionary {
        let encoded = try RecordEncoder(plan.record).encode(model)
        let values = NSMutableDictionary()
        for (index, field) in plan.fields.enumerated() {
            let value: Any?
            switch field.kind {
            case .attribute(let kind): value = encoded.values[index].attributeValue(kind)
            case .json: value = encoded.values[index].attributeValue(.data)
            case .composite: value = encoded.values[index].composite?.elements
            case .toOne, .toMany: continue
            }
            if let value { values[field.name as NSString] = value }
        }
        for field in plan.fields where field.isToMany { values[field.name as NSString] = NSArray() }
        for link in encoded.links {
            let field = plan.fields[link.field]
            guard let related = field.related, reads.names?.contains(field.name) ?? true else { continue }
            if depth == reads.depth {
                if reads.names != nil { continue }
                throw PersistenceError.notComparable(
                    property: field.name, entity: plan.name, type: "model of more than \(depth) levels")
            }
            let destination = try registry.plan(related)
            let targets = try link.targets.all.map { try object(ofTarget: $0, destination, depth: depth + 1) }
            if field.isToMany {
                values[field.name as NSString] = NSArray(array: targets)
            } else if let target = targets.first {
                values[field.name as NSString] = target
            }
        }
        return values
    }

    private func object(ofTarget target: Any, _ plan: EntityPlan, depth: Int) throws -> NSObject {
        if let reference = target as? any ModelReference {
            return ReferenceValues(entity: plan.name, uidKey: plan.uidKey, uid: try reference.keyValue(), unknown)
        }
        guard let model = target as? any CoreModel else { return NSDictionary() }
        return try dictionary(of: model, plan, depth: depth)
    }
}

/// What filters in memory need to know of a model.
private struct KnownModel: Sendable {
    private static let all = Locked<[ObjectIdentifier: KnownModel]>([:])

    /// The derived entities of the model and of those within it.
    let registry: ModelRegistry
    let plan: EntityPlan
    private let layout: EntityLayout

    static func of<Model: CoreModel>(_ type: Model.Type) throws -> KnownModel {
        if let known = all.withLock({ $0[ObjectIdentifier(type)] }) { return known }
        let known = try KnownModel(type)
        all.withLock { $0[ObjectIdentifier(type)] = known }
        return known
    }

    private init<Model: CoreModel>(_ type: Model.Type) throws {
        registry = try ModelRegistry([type])
        plan = try registry.plan(of: type)
        let layouts = try ModelBuilder.model(of: registry).compiledLayout()
        guard let layout = layouts.entityByName[plan.name] else {
            throw PersistenceError.unknownEntity(plan.name, known: layouts.entities.map(\.name))
        }
        self.layout = layout
    }

    /// What a predicate reads.
    ///
    /// - Throws: an error for a predicate that cannot be evaluated. A key that the model does not have would stop
    ///   the program, or be taken for one without a value.
    func reads(of predicate: NSPredicate) throws -> ReadNames {
        guard let tree = try? predicateTree(of: predicate) else { return ReadNames() }
        if let obstacle = tree.obstacle ?? tree.openVariable.map({ "the variable $\($0) has no value" }) {
            throw StoreError.make(CoreDataErrorCode.coreData, "The predicate cannot be used: \(obstacle).")
        }
        try PredicateKeys.check(tree, of: layout)
        var (names, isKnown) = ([String](), true)
        _ = tree.mapExpressions { expression in
            switch expression {
            case .keyPath(let keys), .path(_, let keys): names += keys
            // A function may read anything of a model.
            case .call(let operand, _, let arguments):
                isKnown = isKnown && isPlain(operand) && arguments.allSatisfy(isPlain)
            case .anyKey, .fetch, .block: isKnown = false
            default: break
            }
            return expression
        }
        return isKnown ? ReadNames(names: Set(names), depth: names.count) : ReadNames()
    }

    /// Whether an expression has values of attributes, and no models.
    private func isPlain(_ expression: ExpressionTree) -> Bool {
        switch expression {
        case .constant: true
        case .keyPath(let keys), .path(_, let keys):
            keys.last.map { key in
                let fields = registry.plans.flatMap(\.fields).filter { $0.name == key }
                return !fields.isEmpty && fields.allSatisfy { $0.related == nil }
            } ?? false
        case .call(let operand, _, let arguments): isPlain(operand) && arguments.allSatisfy(isPlain)
        default: false
        }
    }

    func evaluate(_ predicate: NSPredicate, _ values: NSDictionary) throws -> Bool {
        try StoreError.evaluating { predicate.evaluate(with: values) }
    }
}
