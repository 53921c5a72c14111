import CompactCollections
import Foundation
import KeyedArchives

/// Why a model file cannot be read or written: the place, the defect, and what would be right.
package struct ModelFileError: Error, Equatable {
    package enum Kind: Equatable, Sendable {
        case missing
        /// The bytes are no model file.
        case corrupt
        /// The file is readable; the model in it is wrong.
        case invalid
        case unwritable
    }

    /// A part of a model that is in no entity.
    package struct Part: Equatable, Sendable {
        /// The name of its element in a source, such as `configuration`.
        package var element: String
        package var name: String
    }

    package var kind: Kind
    package var entity: String?
    package var property: String?
    /// The part that is meant, if it is in no entity; the reason names it.
    package var part: Part?
    /// The line of a source file, from 1.
    package var line: Int?
    /// The defect and what would be right, as the end of a sentence.
    package var reason: String

    @inline(never)
    package init(
        _ kind: Kind = .invalid, entity: String? = nil, property: String? = nil, line: Int? = nil, reason: String
    ) {
        self.kind = kind
        self.entity = entity
        self.property = property
        self.line = line
        self.reason = reason
    }

    /// The error as Core Data throws it.
    package func nsError(file: URL?, underlying: (any Error)? = nil) -> NSError {
        var place = file.map { "“\($0.path)”" } ?? "The model"
        if let line { place += ", line \(line)" }
        if let entity { place += ", entity “\(entity)”" }
        if let property { place += ", property “\(property)”" }
        // The mark below a format string ends a message without a period.
        let end = reason.contains("\n") ? "" : "."
        var info: [String: Any] = [NSLocalizedDescriptionKey: "\(place): \(reason)\(end)"]
        if let file {
            info[NSFilePathErrorKey] = file.path
            info[NSURLErrorKey] = file
        }
        info["entity"] = entity
        info["property"] = property
        info["line"] = line
        info[NSUnderlyingErrorKey] = underlying
        return NSError(domain: NSCocoaErrorDomain, code: code, userInfo: info)
    }

    private var code: Int {
        switch kind {
        case .missing: CocoaError.fileReadNoSuchFile.rawValue
        case .corrupt: CocoaError.fileReadCorruptFile.rawValue
        case .invalid: CoreDataErrorCode.coreData
        case .unwritable: CocoaError.fileWriteUnknown.rawValue
        }
    }

    /// Runs a reader or writer of a file, and adds the file's name to its errors.
    package static func naming<Result>(_ file: URL?, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch { throw named(error, file) }
    }

    /// Separate from ``naming(_:_:)``, which is compiled for every type of result.
    @inline(never)
    private static func named(_ error: any Error, _ file: URL?) -> any Error {
        switch error {
        case let error as ModelFileError: return error.nsError(file: file)
        case let error as KeyedArchiveError:
            return ModelFileError(.corrupt, reason: withoutPeriod(error.description)).nsError(
                file: file, underlying: error)
        case let error as PropertyListError:
            return ModelFileError(.corrupt, reason: withoutPeriod(error.description)).nsError(
                file: file, underlying: error)
        default:
            let error = error as NSError
            guard error.userInfo[NSFilePathErrorKey] == nil else { return error }
            return ModelFileError(reason: withoutPeriod(error.localizedDescription)).nsError(
                file: file, underlying: error)
        }
    }

    static func withoutPeriod(_ sentence: String) -> String {
        sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
    }
}
