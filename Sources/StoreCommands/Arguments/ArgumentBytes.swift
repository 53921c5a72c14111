import Foundation
import StoreReading

/// The bytes of the arguments as the system hands them over. Paths are bytes there, and texts in Foundation.
package enum ArgumentBytes {
    /// Checks that every argument is UTF-8: Foundation would read other bytes as the name of another file.
    ///
    /// - Parameter arguments: the bytes of each argument, the program's name left out.
    /// - Throws: `UsageError` that shows the first that is no text.
    package static func check(_ arguments: [[UInt8]]) throws {
        for (index, bytes) in arguments.enumerated() where String(validating: bytes, as: UTF8.self) == nil {
            let shown = TextTools.inOneLine(String(decoding: bytes, as: UTF8.self))
            throw UsageError(
                "argument \(index + 1), “\(shown)”, is not UTF-8. Foundation, with which files are opened here, takes no "
                    + "other paths: rename the file, or make a link to it with another name")
        }
    }

    /// The arguments of this process, the program's name left out.
    package static var ofProcess: [[UInt8]] {
        // The array belongs to the process, and is only read.
        let arguments = UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
        return arguments.dropFirst().compactMap { argument in
            argument.map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
        }
    }
}
