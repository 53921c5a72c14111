import CoreData
import Pippin

#if compiler(<6.2)
    /// Before Swift 6.2 the metatype of every type can be sent.
    public typealias SendableMetatype = Any
#endif

/// A record that can be filled from its model.
///
/// ```swift
/// extension PersonRecord: RecordFromModel {
///     func fromModel(_ person: Person) {
///         id = person.uid
///         name = person.name
///     }
/// }
/// ```
///
/// Records of models within the model come from ``record(from:in:)``:
///
/// ```swift
/// extension BookRecord: RecordFromModel {
///     func fromModel(_ book: Book) throws {
///         title = book.title
///         author = try book.author.map { try AuthorRecord.record(from: $0, in: managedObjectContext) }
///     }
/// }
/// ```
public protocol RecordFromModel: ModelRepresentable {
    /// The type of the model that the record represents. The method below implies it.
    associatedtype ModelType

    /// Takes the model's values.
    ///
    /// The attribute named by ``DataRecord/uidKey`` is already set. An implementation that cannot fail omits `throws`.
    ///
    /// - Parameter model: the model that this record represents.
    /// - Throws: the reason why the record cannot take the values; the save throws it, too, and nothing is written.
    func fromModel(_ model: ModelType) throws

    /// Takes the model's relations, after all records of a save have their own values. By default it does nothing.
    ///
    /// A model on a cycle finds its existing record here, which is not filled a second time.
    ///
    /// - Parameter model: the model that this record represents.
    /// - Throws: the reason why the record cannot take the relations; the save throws it, too, and nothing is written.
    func relationsFromModel(_ model: ModelType) throws
}

extension RecordFromModel {
    /// Does nothing.
    ///
    /// - Parameter model: not used.
    /// - Throws: nothing; an implementation of yours may throw.
    public func relationsFromModel(_ model: ModelType) throws {}
}

/// A record that can be converted to its model.
///
/// ```swift
/// extension PersonRecord: RecordToModel {
///     func toModel() -> Person {
///         Person(uid: id ?? "", name: name ?? "")
///     }
/// }
/// ```
public protocol RecordToModel: ModelRepresentable {
    /// The type of the model that the record represents. The method below implies it.
    associatedtype ModelType

    /// The model with this record's values.
    ///
    /// An implementation that cannot fail omits `throws`.
    ///
    /// - Returns: the model, whose relations `relationsToModel(_:_:)` completes.
    /// - Throws: the reason why the record cannot be converted; the fetch throws it, too.
    func toModel() throws -> ModelType

    /// Adds the record's relations to the model. By default it does nothing.
    ///
    /// - Parameters:
    ///   - model: the model, with its properties.
    ///   - conversion: converts other records.
    /// - Throws: the reason why the model cannot be completed; the fetch throws it, too.
    func relationsToModel(_ model: inout ModelType, _ conversion: ModelConversion) throws
}

extension RecordToModel {
    /// Does nothing.
    ///
    /// - Parameters:
    ///   - model: not used.
    ///   - conversion: not used.
    /// - Throws: nothing; an implementation of yours may throw.
    public func relationsToModel(_ model: inout ModelType, _ conversion: ModelConversion) throws {}
}

/// A record that represents a model, usually a struct that the app works with.
///
/// Adopt ``RecordFromModel`` to save such models, ``RecordToModel`` to fetch them; both infer the model's type.
public protocol ModelRepresentable: DataRecord where UidType == ModelType.ID {
    /// The model that the record represents. Both have the same type of identifier.
    associatedtype ModelType: Identifiable & SendableMetatype

    /// The model's type of identifier.
    associatedtype UidType = ModelType.ID
}

/// A model that is made from a record by an initializer, which may refuse the record.
///
/// ```swift
/// extension Person: ModelFromRecord {
///     init?(record: PersonRecord) {
///         guard let id = record.id, let name = record.name else { return nil }
///         self.init(uid: id, name: name)
///     }
/// }
///
/// extension PersonRecord: RecordToModel { typealias ModelType = Person }
/// ```
///
/// Fetches leave refused records out. A model that contains one is not left out: if its conversion needs the refused
/// model, the fetch throws.
public protocol ModelFromRecord: Identifiable, SendableMetatype {
    /// The record type, a final class.
    associatedtype Record: DataRecord

    /// Makes the model with a record's properties; ``RecordToModel/relationsToModel(_:_:)`` adds its relations.
    ///
    /// - Parameter record: the record, on whose context's queue this is called.
    /// - Throws: the reason why the record cannot be converted; the fetch throws it, too.
    init?(record: Record) throws
}

extension RecordToModel where ModelType: ModelFromRecord, ModelType.Record == Self {
    /// The result of the model's initializer for this record.
    ///
    /// - Throws: ``PersistenceError/Code/notConvertible`` if it returns nil.
    public func toModel() throws -> ModelType {
        if let model = try ModelType(record: self) { return model }
        throw refusal
    }
}

extension DataRecord {
    /// The error of a record that its model refuses.
    var refusal: PersistenceError { .notConvertible(entity: Self.entityName, uid: identifierText) }
}

/// A managed object that is identified by one of its attributes.
///
/// ```swift
/// extension PersonRecord: DataRecord {
///     typealias UidType = String
///     static var uidKey: String { "id" }
/// }
/// ```
///
/// A record that represents a model also conforms to ``ModelRepresentable``, which determines the type of its
/// identifier.
public protocol DataRecord: NSManagedObject {
    /// The type of the identifier.
    associatedtype UidType: UniqueIdentifier

    /// The entity's name in the model. By default, the name of the class.
    static var entityName: String { get }

    /// The attribute that holds the unique identifier. By default, `"uid"`.
    ///
    /// Finding records by it is fast only if the model has an index or a uniqueness constraint on it.
    static var uidKey: String { get }
}

extension DataRecord {
    /// The name of the class.
    public static var entityName: String { String(describing: Self.self) }

    /// `"uid"`.
    public static var uidKey: String { "uid" }

    /// The value of the attribute named by ``uidKey``; nil in a record that has no identifier yet.
    var identifier: UidType? { value(forKey: Self.uidKey).flatMap(UidType.init(attributeValue:)) }

    /// The identifier for messages.
    var identifierText: String { value(forKey: Self.uidKey).map { "\($0)" } ?? "" }
}

/// A value that distinguishes one model from another: a string, a number, a UUID, or a type of your own that wraps one
/// of them.
///
/// ```swift
/// struct BookID: UniqueIdentifier {
///     let isbn: String
///
///     init(isbn: String) { self.isbn = isbn }
///
///     init?(attributeValue: Any) {
///         guard let isbn = attributeValue as? String else { return nil }
///         self.init(isbn: isbn)
///     }
///
///     var attributeValue: Any { isbn }
/// }
/// ```
///
/// An enumeration with raw values needs no implementation: the record holds its raw value.
public protocol UniqueIdentifier: Hashable, Sendable {
    /// The identifier as the record's attribute holds it: a `String`, a number, a `UUID`, a `URL`.
    var attributeValue: Any { get }

    /// The identifier that a record's attribute holds.
    ///
    /// - Parameter attributeValue: the attribute's value; the initializer fails for a value that is not an identifier
    ///   of this kind.
    init?(attributeValue: Any)
}

extension UniqueIdentifier {
    /// What distinguishes records, as the store does: texts by their bytes.
    var recordKey: RecordKey { RecordKey(attributeValue: attributeValue) }
}

extension UniqueIdentifier {
    /// The identifier itself.
    public var attributeValue: Any { self }

    /// The attribute's value itself, if it is of this type.
    ///
    /// - Parameter attributeValue: the value of the attribute. The result is `nil` for a value of another type.
    public init?(attributeValue: Any) {
        guard let identifier = attributeValue as? Self else { return nil }
        self = identifier
    }
}

extension UniqueIdentifier where Self: RawRepresentable {
    /// The raw value.
    public var attributeValue: Any { rawValue }

    /// The identifier with that raw value.
    ///
    /// - Parameter attributeValue: the value of the attribute. The result is `nil` for a value of another type.
    public init?(attributeValue: Any) {
        guard let rawValue = attributeValue as? RawValue else { return nil }
        self.init(rawValue: rawValue)
    }
}

extension String: UniqueIdentifier {}
extension Int: UniqueIdentifier {}
extension Int16: UniqueIdentifier {}
extension Int32: UniqueIdentifier {}
extension Int64: UniqueIdentifier {}
extension UUID: UniqueIdentifier {}
extension URL: UniqueIdentifier {}

/// Converts records to models in two phases, properties first and relations second, so that records on cycles can be
/// converted.
///
/// ```swift
/// extension PersonRecord: RecordToModel {
///     func toModel() -> Person { Person(uid: id ?? "", name: name ?? "") }
///
///     func relationsToModel(_ person: inout Person, _ conversion: ModelConversion) throws {
///         person.friends = try conversion.models(of: friends)
///     }
/// }
/// ```
///
/// If a struct occurs again within itself, the inner occurrence has only its properties, since values cannot be cyclic;
/// an object of a class occurs as itself. For use on the queue of the records' context.
public final class ModelConversion {
    /// All class instances that were made.
    private var objects: [NSManagedObjectID: Any] = [:]
    /// The structs that are being made, and how deep each is.
    private var open: [NSManagedObjectID: (model: Any, depth: Int)] = [:]
    /// Structs within others that are the same wherever they occur, until the outermost call ends.
    private var finished: [NSManagedObjectID: Any] = [:]
    private var depth = 0
    private var calls = 0
    /// The depth of the outermost open struct that the present one has led back to.
    private var outermost = Int.max
    /// The structs on cycles that have been made within the present outermost one, and how many were made again.
    private var repeatable: Set<NSManagedObjectID> = []
    private var repetitions = 0

    /// A new conversion.
    public init() {}

    /// The model of a record.
    ///
    /// - Parameter record: the record.
    /// - Returns: nil if the model refuses the record (``ModelFromRecord``).
    /// - Throws: what `toModel` and `relationsToModel` throw, and ``PersistenceError/Code/unreadable`` if models are in
    ///   one another too many levels deep, or on too many paths.
    public func model<Record: RecordToModel>(of record: Record) throws -> Record.ModelType? {
        let identifier = record.objectID
        let isObject = Record.ModelType.self is AnyObject.Type
        if let known = known(identifier, isObject) as? Record.ModelType { return known }
        guard depth < RecordLimits.depth else { throw excess(record, RecordLimits.depthReason) }
        var model: Record.ModelType
        do { model = try record.toModel() } catch let error as PersistenceError
            where error.code == .notConvertible && error == record.refusal
        { return nil }
        calls += 1
        depth += 1
        defer {
            depth -= 1
            endCall()
        }
        if isObject {
            objects[identifier] = model
            try record.relationsToModel(&model, self)
            return model
        }
        let (level, outer) = (depth, outermost)
        if level == 1 { (repeatable, repetitions) = ([], 0) }
        open[identifier] = (model, level)
        outermost = .max
        defer {
            open[identifier] = nil
            outermost = min(outer, outermost)
        }
        try record.relationsToModel(&model, self)
        guard level > 1 else { return model }
        // A struct that leads back to itself, or to one around it, depends on where it occurs.
        if outermost > level {
            finished[identifier] = model
        } else if !repeatable.insert(identifier).inserted {
            repetitions += 1
            guard repetitions <= RecordLimits.repetitions else { throw excess(record, RecordLimits.repetitionsReason) }
        }
        return model
    }

    /// The models of records, in their order, without refused records.
    ///
    /// - Parameter records: the records: an array, or the value of a relationship.
    /// - Returns: the models.
    /// - Throws: what ``model(of:)`` throws.
    public func models<Record: RecordToModel>(of records: some Sequence<Record>) throws -> [Record.ModelType] {
        calls += 1
        defer { endCall() }
        return try records.compactMap { try model(of: $0) }
    }

    private func known(_ identifier: NSManagedObjectID, _ isObject: Bool) -> Any? {
        if isObject { return objects[identifier] }
        guard let open = open[identifier] else { return finished.isEmpty ? nil : finished[identifier] }
        outermost = min(outermost, open.depth)
        return open.model
    }

    private func endCall() {
        calls -= 1
        // Later calls may find other values.
        if calls == 0, !finished.isEmpty { finished = [:] }
    }

    private func excess(_ record: some DataRecord, _ reason: String) -> PersistenceError {
        .unreadable(
            entity: type(of: record).entityName, uid: record.identifierText, key: "",
            reason: reason + " Leave out a relation that leads on, and fetch what it leads to when it is needed.")
    }
}

/// Limits for models in models, which programs' conversions follow from one to the next.
enum RecordLimits {
    /// The levels of models in models. Each takes a part of the thread's stack.
    static let depth = 1_000
    static let depthReason = "models are in models more than \(depth) levels deep."
    /// How many structs on cycles in one struct may be made again: they differ on each path that leads to them.
    static let repetitions = 200_000
    static let repetitionsReason = "models that lead back to themselves would be in it more than \(repetitions) times."
    /// How many records may be filled again within one model, because its models differ from place to place.
    @TaskLocal static var refills = 1_000_000
    static var refillsReason: String {
        "the models in it occur more than \(refills) times, with different values."
    }
}
