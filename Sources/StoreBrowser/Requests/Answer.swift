import CoreData
import Foundation
import HTTPMessages
import ModelFiles
import StoreReading

/// A page that cannot be shown, with its status.
struct PageFailure: Error {
    let status: Int
    let message: String

    static func missing(_ what: String) -> PageFailure { PageFailure(status: 404, message: what) }
}

/// Responses that are no pages, and the texts for errors.
package enum Answer {
    static func json(_ text: String, status: Int = 200) -> HTTPResponse {
        HTTPResponse(text: text, type: "application/json", status: status)
    }

    /// An error as one or several sentences.
    package static func text(of error: any Error) -> String {
        if let error = error as? CommandError { return error.message }
        if let error = error as? TextProblem { return error.sentence }
        let error = error as NSError
        if error.domain == NSCocoaErrorDomain, error.code == CoreDataErrorCode.persistentStoreTimeout {
            return "Another program has locked the store. Nothing was changed here; try again when it has finished."
        }
        let suggestion = error.userInfo[NSLocalizedRecoverySuggestionErrorKey] as? String
        return [error.localizedDescription, suggestion].compactMap { $0 }.joined(separator: " ")
    }
}
