import Foundation

/// The images that are displayed, recognized by their first bytes. SVG is excluded, as it may contain scripts.
enum MediaType: String {
    case png = "image/png"
    case jpeg = "image/jpeg"
    case gif = "image/gif"
    case webp = "image/webp"

    var name: String { rawValue.dropFirst(6).uppercased() + " image" }

    init?(of data: Data) {
        let start = Array(data.prefix(12))
        if start.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if start.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if start.starts(with: Array("GIF8".utf8)) {
            self = .gif
        } else if start.starts(with: Array("RIFF".utf8)), start.dropFirst(8).elementsEqual("WEBP".utf8) {
            self = .webp
        } else {
            return nil
        }
    }
}
