import CompactCollections
import CoreDataModel
import Foundation

/// Why no mapping can be inferred, with the destination's entity and property.
package struct InferenceFailure: Error, Equatable, Sendable {
    package var entity: String
    package var property: String?
    package var reason: String

    /// The error in Core Data's form: 134190, with `entity`, `property` and `reason` in the user info.
    package var nsError: NSError {
        let place = property.map { "“\(entity).\($0)”" } ?? "entity “\(entity)”"
        var info: [String: Any] = [
            NSLocalizedDescriptionKey: "No mapping can be inferred for \(place): \(reason).",
            NSLocalizedRecoverySuggestionErrorKey:
                "Write a mapping model for this step, or go there over a version of the model in between.",
            "entity": entity, "reason": reason,
        ]
        if let property { info["property"] = property }
        return NSError(domain: NSCocoaErrorDomain, code: CoreDataErrorCode.inferredMappingModel, userInfo: info)
    }
}
