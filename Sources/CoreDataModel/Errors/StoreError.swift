import Foundation

/// The errors that stores of all types throw.
package enum StoreError {
    /// In the user info: true if the store could not determine whether the last commit succeeded.
    package static let uncertaintyKey = "PippinOutcomeIsUncertain"
    /// In the user info: whether the store failed, as other values would not help; false if the values are at fault.
    package static let isOfStoreKey = "PippinIsOfStore"
    /// In the user info: the name of the entity whose objects would break a rule.
    package static let entityKey = "PippinEntity"
    /// In the user info: the names of the properties whose values would break a rule.
    package static let propertiesKey = "PippinProperties"

    /// An error in the Cocoa domain with Core Data's code.
    package static func make(
        _ code: Int, _ description: String, url: URL? = nil, suggestion: String? = nil, underlying: (any Error)? = nil,
        userInfo: [String: Any] = [:]
    ) -> NSError {
        // The URL of a server may contain a password.
        let url = url?.withoutPassword
        var info = userInfo.mapValues { ($0 as? URL)?.withoutPassword ?? $0 }
        info[NSLocalizedDescriptionKey] = description
        if let url {
            info[NSFilePathErrorKey] = url.path
            info[NSURLErrorKey] = url
        }
        if let suggestion { info[NSLocalizedRecoverySuggestionErrorKey] = suggestion }
        if let underlying { info[NSUnderlyingErrorKey] = underlying }
        return NSError(domain: NSCocoaErrorDomain, code: code, userInfo: info)
    }

    /// Runs code that evaluates predicates.
    ///
    /// - Throws: the body's error; 134060 if a predicate could not be evaluated.
    package static func evaluating<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try EvaluationFailure.throwing(body) } catch let error as UnevaluatedPredicateError {
            throw make(CoreDataErrorCode.coreData, error.localizedDescription, underlying: error)
        }
    }

    package static func unsupported(_ work: String, storeType: String, url: URL?) -> NSError {
        make(
            CoreDataErrorCode.persistentStoreUnsupportedRequestType,
            "A store of type “\(storeType)” does not support \(work).", url: url)
    }
}

extension URL {
    /// The URL in the form that errors may show: without secrets.
    package var withoutPassword: URL {
        guard !isFileURL, scheme != nil else { return self }
        var text = absoluteString
        if let password = password(percentEncoded: true), !password.isEmpty,
            let start = text.range(of: ":" + password + "@")
        {
            text.replaceSubrange(start, with: "@")
        }
        guard let mark = text.firstIndex(of: "?") else { return URL(string: text) ?? self }
        // `password` and `sslpassword`.
        let items = text[text.index(after: mark)...].split(separator: "&").map { item -> Substring in
            let key = item.prefix { $0 != "=" }
            return key.hasSuffix("password") ? "\(key)=" : item
        }
        return URL(string: text[..<mark] + "?" + items.joined(separator: "&")) ?? self
    }
}

/// Stops the program because of a programmer's mistake, for which Core Data raises an Objective-C exception; Swift on
/// Linux has none. Never call it for bad input, for which an error is thrown.
///
/// - Parameter message: names the entity, the key and what would have been correct.
package func programmerError(_ message: String) -> Never {
    fatalError("Core Data: " + message)
}

// The content of Core Data's errors, by name.
extension CocoaError {
    /// The object that is not valid: the value of `NSValidationObjectErrorKey`.
    public var validationObject: Any? { userInfo[NSValidationObjectErrorKey] }

    /// The property whose value is not valid: the value of `NSValidationKeyErrorKey`.
    public var validationKey: String? { userInfo[NSValidationKeyErrorKey] as? String }

    /// The predicate that the value does not satisfy: the value of `NSValidationPredicateErrorKey`.
    public var validationPredicate: NSPredicate? { userInfo[NSValidationPredicateErrorKey] as? NSPredicate }

    /// The value that is not valid: the value of `NSValidationValueErrorKey`.
    public var validationValue: Any? { userInfo[NSValidationValueErrorKey] }

    /// The stores that the error concerns: the value of `NSAffectedStoresErrorKey`.
    public var affectedStores: [AnyObject]? { userInfo[NSAffectedStoresErrorKey] as? [AnyObject] }

    /// The objects that the error concerns: the value of `NSAffectedObjectsErrorKey`.
    public var affectedObjects: [AnyObject]? { userInfo[NSAffectedObjectsErrorKey] as? [AnyObject] }
}
