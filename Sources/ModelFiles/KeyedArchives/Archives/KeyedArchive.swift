import Foundation
import Synchronization

/// A keyed archive as a value: the objects that `NSKeyedArchiver` wrote, by number, without instantiating any of them.
///
/// Reading an archive never creates an object of a class that the archive names. Objects refer to one another by number
/// and may form cycles; a reader follows the references that it understands.
///
/// The steps that readers take are counted; far more steps than objects are an error.
package struct KeyedArchive: Equatable, Sendable {
    /// The entries of `$objects`; entry 0 is the string `$null`.
    package let objects: [PropertyList]
    /// The entries of `$top`.
    package let top: [String: PropertyList]
    /// `NSKeyedArchiver`, or the name of the archiver's subclass.
    package let archiver: String
    /// The version of the archive's layout.
    package let version: Int64

    let budget: ReadingBudget

    /// The version that this module reads and writes.
    package static let layoutVersion: Int64 = 100_000

    /// Reads an archive from a binary property list.
    ///
    /// - Throws: `PropertyListError` if the bytes are not a property list, `KeyedArchiveError` if it is not an archive.
    package init(data: Data) throws {
        try self.init(propertyList: PropertyList(binary: data))
    }

    package init(propertyList: PropertyList) throws(KeyedArchiveError) {
        guard let root = propertyList.dictionaryValue else {
            throw KeyedArchiveError(reason: "it is \(propertyList.kind), not a dictionary")
        }
        guard let objects = root["$objects"]?.arrayValue, !objects.isEmpty else {
            throw KeyedArchiveError(reason: "it has no “$objects”")
        }
        guard objects[0] == .string("$null") else {
            throw KeyedArchiveError(reason: "its first object is not “$null”")
        }
        guard let top = root["$top"]?.dictionaryValue else {
            throw KeyedArchiveError(reason: "it has no “$top”")
        }
        guard let version = root["$version"]?.integerValue, version == Self.layoutVersion else {
            throw KeyedArchiveError(reason: "its “$version” is not \(Self.layoutVersion)")
        }
        self.init(objects: objects, top: top, archiver: root["$archiver"]?.stringValue ?? "", version: version)
    }

    init(
        objects: [PropertyList], top: [String: PropertyList], archiver: String = "NSKeyedArchiver",
        version: Int64 = KeyedArchive.layoutVersion
    ) {
        self.objects = objects
        self.top = top
        self.archiver = archiver
        self.version = version
        budget = ReadingBudget(objectCount: objects.count)
    }

    package static func == (left: KeyedArchive, right: KeyedArchive) -> Bool {
        left.objects == right.objects && left.top == right.top && left.archiver == right.archiver
            && left.version == right.version
    }

    package var propertyList: PropertyList {
        .dictionary([
            "$archiver": .string(archiver), "$version": .integer(version), "$top": .dictionary(top),
            "$objects": .array(objects),
        ])
    }

    /// The archive as a binary property list.
    package func data() throws -> Data { try propertyList.binaryData() }

    /// The object that `$top` names.
    package func root(forKey key: String = "root") throws(KeyedArchiveError) -> ArchivedObject {
        let value = try rootValue(forKey: key)
        guard case .object(let object) = value else {
            throw KeyedArchiveError(objectIndex: 0, key: key, expected: "an object", found: value.kind)
        }
        return object
    }

    /// The value that `$top` names: an object, or a text, number or data.
    package func rootValue(forKey key: String = "root") throws(KeyedArchiveError) -> ArchivedValue {
        guard let entry = top[key] else {
            throw KeyedArchiveError(reason: "it has no object under the key “\(key)” in “$top”")
        }
        return try value(of: entry, owner: 0, key: key)
    }

    /// The value of a field: itself, or the object that it refers to.
    ///
    /// - Parameters:
    ///   - field: an entry of an object's dictionary, or an element of its arrays.
    ///   - owner: the number of the object that has the field, for the error.
    ///   - key: the field's key, for the error.
    /// - Returns: the value that the field holds.
    /// - Throws: an error if the field refers to an object that the archive does not have.
    package func value(
        of field: PropertyList, owner: Int, key: String
    ) throws(KeyedArchiveError) -> ArchivedValue {
        try budget.spend()
        guard case .uid(let number) = field else { return .plain(field) }
        guard Int(number) < objects.count else {
            throw KeyedArchiveError(
                objectIndex: owner, key: key, expected: "a reference below \(objects.count)", found: "\(number)")
        }
        if number == 0 { return .null }
        let object = objects[Int(number)]
        if case .uid = object {
            throw KeyedArchiveError(
                objectIndex: Int(number), key: key, expected: "an object", found: "a reference")
        }
        guard case .dictionary(let fields) = object, let classReference = fields["$class"] else {
            return .plain(object)
        }
        let classNames = try classNames(classReference, objectIndex: Int(number))
        return .object(ArchivedObject(archive: self, index: Int(number), classNames: classNames, fields: fields))
    }

    private func classNames(_ reference: PropertyList, objectIndex: Int) throws(KeyedArchiveError) -> [String] {
        guard case .uid(let number) = reference, Int(number) < objects.count,
            let description = objects[Int(number)].dictionaryValue,
            let name = description["$classname"]?.stringValue
        else {
            throw KeyedArchiveError(
                objectIndex: objectIndex, key: "$class", expected: "a reference to a class", found: reference.kind)
        }
        let ancestors = description["$classes"]?.arrayValue?.compactMap(\.stringValue) ?? []
        // Each object of the class gets these names.
        guard ancestors.count <= 64 else {
            throw KeyedArchiveError(
                objectIndex: Int(number), key: "$classes", expected: "at most 64 names", found: "\(ancestors.count)")
        }
        return ancestors.first == name ? ancestors : [name] + ancestors
    }
}

/// The value of a field of an archived object.
package enum ArchivedValue: Sendable {
    case null
    /// A number, string or data that the archive holds directly.
    case plain(PropertyList)
    case object(ArchivedObject)

    /// The kind of the value, in the words of error messages.
    package var kind: String {
        switch self {
        case .null: "nothing"
        case .plain(let value): value.kind
        case .object(let object): "an object of the class \(object.className)"
        }
    }
}

/// How many steps the reading of one archive may take.
///
/// Objects of an archive may share others, and a reader that follows references meets a shared object once for every
/// path to it. A small file can have more paths than any machine can follow; an honest one has a few for each object.
final class ReadingBudget: Sendable {
    private let limit: Int
    private let steps = Atomic<Int>(0)
    private let copied = Atomic<Int>(0)
    private let comparisonLimit: Int
    private let comparisons = Atomic<Int>(0)
    /// 0 until it is needed.
    private let copyLimit = Atomic<Int>(0)
    /// The archives of single objects, by the objects' numbers.
    let fragments = Mutex<[Int: Data]>([:])

    init(objectCount: Int) {
        limit = 50_000 + 100 * objectCount
        // Foundation compares some ten thousands of data a second. Its hash of short data has up to 16 that differ in
        // their last two bytes.
        comparisonLimit = 20_000 + 16 * objectCount
    }

    func spend(_ count: Int = 1) throws(KeyedArchiveError) {
        guard steps.add(count, ordering: .relaxed).newValue <= limit else {
            throw KeyedArchiveError(
                reason: "reading it takes more than \(limit) steps, because its objects share one another too often")
        }
    }

    /// Counts comparisons of values that have one hash, for a set or a dictionary that is made of them.
    ///
    /// - Returns: whether they may be made.
    func compare(_ count: Int) -> Bool { comparisons.add(count, ordering: .relaxed).newValue <= comparisonLimit }

    /// Counts bytes of texts and data that are copied: an object may be copied for every one that refers to it.
    func copy(_ count: Int, of objects: [PropertyList]) throws(KeyedArchiveError) {
        let total = copied.add(count, ordering: .relaxed).newValue
        guard total > CopyLimit.free else { return }
        var limit = copyLimit.load(ordering: .relaxed)
        if limit == 0 {
            limit = CopyLimit.bytes(of: objects.reduce(0) { $0 + $1.byteCount })
            copyLimit.store(limit, ordering: .relaxed)
        }
        guard total <= limit else { throw KeyedArchiveError(reason: CopyLimit.reason(limit)) }
    }
}

/// How many bytes readers may copy from a file whose objects share large values.
package enum CopyLimit {
    static let free = 64 << 20

    /// - Parameter size: the size of the file, or of the values in it.
    /// - Returns: the limit.
    package static func bytes(of size: Int) -> Int { free + 16 * size }

    /// Why a file is refused, as the end of a sentence.
    package static func reason(_ limit: Int) -> String {
        "reading it takes more than \(limit) bytes, because its objects share large values too often"
    }
}
