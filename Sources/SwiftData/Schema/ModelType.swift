import CoreData
import Synchronization

/// A model class: its properties, and how their values are kept. Made once per class.
final class ModelType: @unchecked Sendable {
    // @unchecked Sendable: immutable; key paths and default values are only read.
    let type: any PersistentModel.Type
    /// The name of the class's entity.
    let name: String
    /// The model class that it inherits from.
    let superType: ModelType?
    /// All properties, inherited ones first; a property's number is its position.
    let properties: [ModelProperty]
    /// The numbers of the properties by their key paths.
    private let numbers: [AnyKeyPath: Int]
    private let table: KeyPathTable
    private let numbersByName: [String: Int]
    /// Its own constraints and indexes.
    let constraints: [[String]]
    let indices: [[String]]
    let rtrees: [[String]]
    /// Why the class cannot be kept in a store; empty if it can.
    let problems: [String]
    /// The values of a new model, by the number of the property.
    let initialValues: ContiguousArray<StoredValue>
    /// Where a model has the variable for its backing data; nil for a class that the macro has not written, and for one
    /// whose initializers may fail.
    let backingDataOffset: Int?

    private static let known = Mutex<[ObjectIdentifier: ModelType]>([:])

    /// What is known of a class.
    static func of(_ type: any PersistentModel.Type) -> ModelType {
        if let found = known.withLock({ $0[ObjectIdentifier(type)] }) { return found }
        // Metadata are the program's code, which may ask for other classes: the lock is not held meanwhile.
        let made = ModelType(type)
        return known.withLock { known in
            if let found = known[ObjectIdentifier(type)] { return found }
            known[ObjectIdentifier(type)] = made
            return made
        }
    }

    /// What is known of the class at an address; nil for any other address.
    static func known(at address: UInt) -> ModelType? {
        known.withLock { known in
            // A class is identified by the address of its metadata.
            known[unsafeBitCast(address, to: ObjectIdentifier.self)]
        }
    }

    /// The classes of the containers that were made, by the names of their entities; of several, the latest.
    private static let inContainers = Mutex<[String: ModelType]>([:])

    static func inContainer(named name: String) -> ModelType? { inContainers.withLock { $0[name] } }

    static func noteContainer(with types: [String: ModelType]) {
        inContainers.withLock { $0.merge(types) { _, new in new } }
    }

    static func name(of type: any PersistentModel.Type) -> String {
        let name = "\(type)"
        // `Shelf.Book` is Book.
        return name.lastIndex(of: ".").map { String(name[name.index(after: $0)...]) } ?? name
    }

    private init(_ type: any PersistentModel.Type) {
        self.type = type
        name = Self.name(of: type)
        superType = (_getSuperclass(type) as? any PersistentModel.Type).map { ModelType.of($0) }
        var properties = superType?.properties ?? []
        var numbers = superType?.numbers ?? [:]
        var problems = superType?.problems ?? []
        var groups: [any PropertyGroups] = []
        for metadata in type.schemaMetadata {
            if let group = metadata.metadata as? any PropertyGroups {
                groups.append(group)
                continue
            }
            numbers[metadata.keypath] = properties.count
            let property = ModelProperty(metadata, number: properties.count)
            if let problem = property.problem { problems.append("\(name).\(property.name) \(problem)") }
            properties.append(property)
        }
        self.properties = properties
        self.numbers = numbers
        table = KeyPathTable(properties: properties.count)
        numbersByName = Dictionary(properties.map { ($0.name, $0.number) }, uniquingKeysWith: { _, own in own })
        initialValues = ContiguousArray(repeating: .null, count: properties.count)
        backingDataOffset =
            TypeFields.offset(of: "_$initializersMayFail", in: type) == nil
            ? TypeFields.offset(of: "_$backingData", in: type) : nil
        var (constraints, indices, rtrees): ([[String]], [[String]], [[String]]) = ([], [], [])
        let byKeyPath = numbers
        for group in groups {
            let named = group.groups.map { group in
                group.map { keyPath in byKeyPath[keyPath].map { properties[$0].name } ?? "\(keyPath)" }
            }
            for (index, names) in named.enumerated() {
                if group.isConstraint {
                    constraints.append(names)
                } else if group.isRTree(index) {
                    rtrees.append(names)
                } else {
                    indices.append(names)
                }
            }
        }
        for property in properties where property.number >= (superType?.properties.count ?? 0) {
            if property.metadata?.isUnique == true { constraints.append([property.name]) }
        }
        for name in (constraints + indices + rtrees).joined() where !properties.contains(where: { $0.name == name }) {
            problems.append("\(self.name) names \(name) in #Unique or #Index, which is not one of its properties.")
        }
        for name in constraints.joined() where properties.first(where: { $0.name == name })?.isToMany == true {
            problems.append("\(self.name).\(name) is an array of models, which cannot be unique.")
        }
        (self.constraints, self.indices, self.rtrees, self.problems) = (constraints, indices, rtrees, problems)
    }

    /// The property of a key path that leads to it directly; nil for any other.
    func property(_ keyPath: AnyKeyPath) -> ModelProperty? {
        if let number = table.number(keyPath) { return properties[number] }
        guard let number = numbers[keyPath] else { return nil }
        table.add(keyPath, number)
        return properties[number]
    }

    /// The property of a key path that must be one's.
    func persisted(_ keyPath: AnyKeyPath) -> ModelProperty {
        guard let property = property(keyPath) else {
            programmerError("\(keyPath) is not a persisted property of \(name)")
        }
        return property
    }

    func property(named name: String) -> ModelProperty? { numbersByName[name].map { properties[$0] } }

    /// The name of the property of a key path; nil for a key path that leads to none.
    func name(of keyPath: AnyKeyPath) -> String? { property(keyPath)?.name }

    /// The key paths of properties.
    ///
    /// - Throws: ``SwiftDataError/unsupportedKeyPath`` for a name that the class does not have.
    func keyPaths<T>(named names: [String]) throws -> [PartialKeyPath<T>] {
        try names.map { name in
            guard let keyPath = property(named: name)?.keyPath as? PartialKeyPath<T> else {
                throw SwiftDataError.unsupportedKeyPath.because("\(self.name) has no property “\(name)”.")
            }
            return keyPath
        }
    }

    /// Whether the class is another one or inherits from it.
    func isKind(of other: ModelType) -> Bool { self === other || superType?.isKind(of: other) ?? false }
}

/// The numbers of properties by the identity of their key paths.
///
/// A program has one object for each key path that it spells out, so that its address tells the property without the
/// hash of its content. Others are not found here.
///
/// Unsafe memory: the entries are read by any thread while another one adds some. An entry's number is written before
/// its address, and neither changes again; a key path in the table is kept alive forever, so that no other one gets its
/// address. The table is as large as the class's properties require, and is never freed, like the class.
final class KeyPathTable: @unchecked Sendable {
    // @unchecked Sendable: entries are atomic.
    private struct Entry: ~Copyable {
        let address = Atomic<UInt>(0)
        let number = Atomic<Int>(0)
    }

    private let entries: UnsafeMutablePointer<Entry>
    private let mask: Int
    private let count = Mutex(0)

    /// - Parameter properties: how many properties there are.
    init(properties: Int) {
        var capacity = 16
        while capacity < properties * 8 { capacity *= 2 }
        mask = capacity - 1
        entries = .allocate(capacity: capacity)
        for index in 0..<capacity { (entries + index).initialize(to: Entry()) }
    }

    /// The number of a key path that was added; nil for any other.
    func number(_ keyPath: AnyKeyPath) -> Int? {
        let address = UInt(bitPattern: Unmanaged.passUnretained(keyPath).toOpaque())
        var index = Int(truncatingIfNeeded: address >> 4) & mask
        while true {
            let found = entries[index].address.load(ordering: .acquiring)
            if found == address { return entries[index].number.load(ordering: .relaxed) }
            if found == 0 { return nil }
            index = (index + 1) & mask
        }
    }

    /// Adds a key path, unless the table is half full.
    func add(_ keyPath: AnyKeyPath, _ number: Int) {
        count.withLock { count in
            guard count <= mask / 2, self.number(keyPath) == nil else { return }
            count += 1
            let address = UInt(bitPattern: Unmanaged.passRetained(keyPath).toOpaque())
            var index = Int(truncatingIfNeeded: address >> 4) & mask
            while entries[index].address.load(ordering: .relaxed) != 0 { index = (index + 1) & mask }
            entries[index].number.store(number, ordering: .relaxed)
            entries[index].address.store(address, ordering: .releasing)
        }
    }
}
