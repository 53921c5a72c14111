import Foundation

/// The content of a submitted form. The body, which may have many megabytes, is parsed once for fields and files.
public struct SentForm: Sendable {
    /// The fields, without files.
    public let fields: HTTPFields
    /// The uploaded files, by the names of their fields.
    public let files: [String: Data]

    /// - Parameters:
    ///   - body: the body of the request.
    ///   - type: the `Content-Type` of the request.
    init(_ body: Data, type: String?) {
        if let parts = type.flatMap({ MultipartForm(body, type: $0) }) {
            (fields, files) = (HTTPFields(parts.fields), parts.files)
        } else {
            (fields, files) = (HTTPFields(encoded: String(decoding: body, as: UTF8.self)), [:])
        }
    }
}
