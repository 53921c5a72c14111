import Foundation

/// Why a property list is no keyed archive, or an archived object is not what a reader expected.
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
