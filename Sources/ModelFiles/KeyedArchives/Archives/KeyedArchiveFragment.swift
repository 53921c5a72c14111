import Foundation
import Synchronization

/// An object of an archive with everything that it refers to, as an archive of its own: a reader keeps an object of an
/// unknown class in this form, so that it can be written again.
package struct KeyedArchiveFragment: Equatable, Sendable {
    /// An archive whose root is the object.
    package let archive: KeyedArchive

    /// Cuts an object out of its archive.
    ///
    /// - Throws: `KeyedArchiveError` if it refers to objects that do not exist.
    package init(_ object: ArchivedObject) throws(KeyedArchiveError) {
        var numbers: [UInt32: UInt32] = [0: 0]
        var order: [UInt32] = [0]
        func visit(_ value: PropertyList) {
            for number in value.references where numbers[number] == nil {
                numbers[number] = UInt32(order.count)
                order.append(number)
            }
        }
        visit(.uid(UInt32(object.index)))
        var next = 1
        while next < order.count {
            guard Int(order[next]) < object.archive.objects.count else {
                throw object.error(nil, expected: "references to existing objects", found: "\(order[next])")
            }
            let content = object.archive.objects[Int(order[next])]
            visit(content)
            try object.archive.budget.spend(content.valueCount)
            try object.archive.budget.copy(content.byteCount, of: object.archive.objects)
            next += 1
        }
        let objects = order.map { object.archive.objects[Int($0)].renumbered { numbers[$0] ?? 0 } }
        archive = KeyedArchive(objects: objects, top: ["root": .uid(1)])
    }
}

extension ArchivedObject {
    /// The bytes of an archive of the object alone, which are made once, however many others share the object.
    ///
    /// - Throws: `KeyedArchiveError` if it refers to objects that do not exist.
    package func archivedAlone() throws -> Data {
        if let known = archive.budget.fragments.withLock({ $0[index] }) { return known }
        let data = try KeyedArchiveFragment(self).archive.data()
        archive.budget.fragments.withLock { $0[index] = data }
        return data
    }
}

extension KeyedArchiveBuilder {
    /// Adds the object of a fragment and what it refers to.
    package mutating func add(_ fragment: KeyedArchiveFragment) -> PropertyList {
        let offset = UInt32(objectCount)
        for object in fragment.archive.objects.dropFirst() {
            appendRaw(object.renumbered { $0 == 0 ? 0 : $0 - 1 + offset })
        }
        return .uid(offset)
    }
}

extension PropertyList {
    /// The numbers of the objects that the value refers to. Values from a reader have bounded depth.
    var references: [UInt32] {
        switch self {
        case .uid(let number): [number]
        case .array(let values): values.flatMap(\.references)
        case .dictionary(let values): values.sorted { $0.key < $1.key }.flatMap(\.value.references)
        default: []
        }
    }

    /// How many values it consists of, itself included.
    fileprivate var valueCount: Int {
        switch self {
        case .array(let values): values.reduce(1) { $0 + $1.valueCount }
        case .dictionary(let values): values.values.reduce(1) { $0 + $1.valueCount }
        default: 1
        }
    }

    /// How many bytes its texts and data have.
    var byteCount: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .data(let data): data.count
        case .array(let values): values.reduce(0) { $0 + $1.byteCount }
        case .dictionary(let values): values.values.reduce(0) { $0 + $1.byteCount }
        default: 0
        }
    }

    func renumbered(_ number: (UInt32) -> UInt32) -> PropertyList {
        switch self {
        case .uid(let old): .uid(number(old))
        case .array(let values): .array(values.map { $0.renumbered(number) })
        case .dictionary(let values): .dictionary(values.mapValues { $0.renumbered(number) })
        default: self
        }
    }
}

/// Why a property list is not a keyed archive, or an archived object is not what a reader expected.
package struct KeyedArchiveError: Error, Equatable, CustomStringConvertible {
    /// The number of the object in `$objects`; nil if the archive as a whole is wrong.
    package let objectIndex: Int?
    /// The class of that object, if it is known.
    package let className: String?
    /// The key that was read.
    package let key: String?
    package let reason: String
    /// The class that no reader knows, if that is the only problem: the archive is not damaged.
    package let unknownClass: String?

    package init(reason: String) {
        unknownClass = nil
        objectIndex = nil
        className = nil
        key = nil
        self.reason = reason
    }

    package init(objectIndex: Int, className: String? = nil, key: String?, expected: String, found: String) {
        self.init(
            objectIndex: objectIndex, className: className, key: key, reason: "\(expected) expected, \(found) found")
    }

    package init(objectIndex: Int, className: String? = nil, key: String?, reason: String) {
        unknownClass = nil
        self.objectIndex = objectIndex
        self.className = className
        self.key = key
        self.reason = reason
    }

    /// An object is of a class that its reader does not know.
    package init(objectIndex: Int, unknownClass: String, expected: String) {
        self.unknownClass = unknownClass
        self.objectIndex = objectIndex
        className = unknownClass
        key = nil
        reason = "\(expected) expected"
    }

    package var description: String {
        if let unknownClass, let objectIndex {
            return "The keyed archive has an object of the class \(unknownClass), which is not known here (object "
                + "\(objectIndex), \(reason))."
        }
        guard let objectIndex else { return "The keyed archive is damaged: \(reason)." }
        let kind = className.map { " (\($0))" } ?? ""
        let place = key.map { ", key “\($0)”" } ?? ""
        return "The keyed archive is damaged at object \(objectIndex)\(kind)\(place): \(reason)."
    }
}

extension KeyedArchiveError: LocalizedError {
    package var errorDescription: String? { description }
}
