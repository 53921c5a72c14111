import CompactCollections
import StoreSession

/// What went wrong with a manager, a model or a store: a code to decide by, the subject, and a description that says
/// what to do.
///
/// ```swift
/// do {
///     try await manager.insert(book)
/// } catch let error as PersistenceError where error.code == .alreadyStored {
///     print("There is a \(error.entity ?? "") with the identifier \(error.identifier ?? "")")
/// }
/// ```
///
/// As an `NSError` it is in Core Data's domain (`NSCocoaErrorDomain`), with the code and the user info of
/// ``underlying`` if there is one; only for ``Code/unreadable`` these are its own.
public struct PersistenceError: Error, Sendable {
    /// What happened. Codes may be added; a `switch` over them needs a default.
    public let code: Code
    /// The entity, or the model's type, that the error is about.
    public private(set) var entity: String?
    /// The property that the error is about.
    public private(set) var property: String?
    /// The identifier of the model that the error is about, as text.
    public private(set) var identifier: String?
    /// The file or folder that the error is about.
    public private(set) var path: String?
    /// The names to choose from instead: properties, entities, columns, examples.
    public private(set) var known: [String] = []
    /// The reason, in a sentence.
    public private(set) var reason: String?
    /// The data that the store has and the models would not keep, for ``Code/wouldLose``.
    public private(set) var losses: [StoreLoss] = []
    /// What could not be saved, model by model, for ``Code/conflict``, ``Code/invalid`` and ``Code/saveFailed``.
    public private(set) var failures: [SaveFailure] = []
    /// The error that Core Data or the system gave, or that a model's own `init(from:)` threw.
    public private(set) var underlying: (any Error)?

    /// What happened, where, and what to do.
    public let description: String

    // Not inlined: errors are made in many places, and rarely.
    @inline(never)
    package init(
        _ code: Code, entity: String? = nil, property: String? = nil, identifier: String? = nil, path: String? = nil,
        known: [String] = [], reason: String? = nil, losses: [StoreLoss] = [], failures: [SaveFailure] = [],
        underlying: (any Error)? = nil, _ description: String
    ) {
        self.code = code
        self.entity = entity
        self.property = property
        self.identifier = identifier
        self.path = path
        self.known = known
        self.reason = reason
        self.losses = losses
        self.failures = failures
        self.underlying = underlying
        self.description = description
    }
}

extension PersistenceError: LocalizedError, CustomStringConvertible, CustomNSError {
    /// ``description``, for code that shows errors to people.
    public var errorDescription: String? { description }

    /// Core Data's domain, `NSCocoaErrorDomain`.
    public static var errorDomain: String { NSCocoaErrorDomain }

    /// The code of ``underlying``, unless a model's `init(from:)` threw that; otherwise the system's code for a missing
    /// file, and `NSCoreDataError` for everything else.
    public var errorCode: Int {
        if let adopted { return adopted.code }
        switch code {
        case .storeNotFound, .fileNotReadable: return CocoaError.Code.fileReadNoSuchFile.rawValue
        case .folderNotFound: return CocoaError.Code.fileNoSuchFile.rawValue
        default: return NSCoreDataError
        }
    }

    /// The error whose code and user info are also those of this one: Core Data's or the system's. The codes of a
    /// model's own errors mean something else in Core Data's domain.
    private var adopted: NSError? { code == .unreadable ? nil : underlying as NSError? }

    /// The user info of ``underlying``, unless a model's `init(from:)` threw that, with this description.
    public var errorUserInfo: [String: Any] {
        var info = adopted?.userInfo ?? [:]
        info[NSLocalizedDescriptionKey] = description
        info[NSUnderlyingErrorKey] = underlying
        return info
    }
}

extension PersistenceError: Equatable {
    /// Whether two errors say the same about the same subject.
    ///
    /// - Parameters:
    ///   - left: an error.
    ///   - right: another error.
    /// - Returns: `true` for errors with the same code about the same subject, in the same words.
    public static func == (left: PersistenceError, right: PersistenceError) -> Bool {
        left.code == right.code && left.entity == right.entity && left.property == right.property
            && left.identifier == right.identifier && left.path == right.path && left.description == right.description
    }
}

/// Why one model could not be saved.
public struct SaveFailure: Sendable, Equatable {
    /// The model's entity.
    public let entity: String
    /// The model's identifier, as text; `nil` where it has none.
    public let identifier: String?
    /// The property, or the properties that must be unique together; `nil` if the failure is about the model as a
    /// whole.
    public let property: String?
    /// The reason, in a sentence.
    public let reason: String
}
