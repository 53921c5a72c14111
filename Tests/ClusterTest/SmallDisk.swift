import Foundation

/// A file system of its own for one server, in a file: small enough to be full.
struct SmallDisk {
    /// How many bytes it has.
    private static let size = 1_500_000_000

    let folder: String
    private let image: String

    /// Makes one, where that is permitted: mounting takes an administrator.
    ///
    /// - Parameters:
    ///   - folder: where it is to be seen.
    ///   - image: the file that holds it. It takes no more room than what is written.
    /// - Returns: nil where it cannot be made.
    static func make(at folder: String, in image: String) -> SmallDisk? {
        guard getuid() == 0, FileManager.default.createFile(atPath: image, contents: nil),
            truncate(image, off_t(size)) == 0, run("mkfs.ext4 -q -F -m 0 -O ^has_journal \"$0\"", image),
            run("mount -o loop \"$0\" \"$1\" && rmdir \"$1/lost+found\"", image, folder)
        else {
            unlink(image)
            return nil
        }
        return SmallDisk(folder: folder, image: image)
    }

    /// Takes all the room that is left, down to the last block.
    func fill() {
        _ = Self.run(
            """
            fallocate -l $(($(stat -f -c '%a * %S' "$0"))) "$0/filler" 2>/dev/null
            dd if=/dev/zero of="$0/rest" bs=4k 2>/dev/null
            true
            """, folder)
    }

    /// Gives it back.
    func free() { _ = Self.run("rm -f \"$0/filler\" \"$0/rest\"", folder) }

    /// Takes it away.
    func remove() {
        _ = Self.run("umount \"$0\" || umount -l \"$0\"", folder)
        unlink(image)
    }

    private static func run(_ script: String, _ arguments: String...) -> Bool {
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-c", "PATH=$PATH:/usr/sbin:/sbin; " + script] + arguments
        shell.standardError = FileHandle.nullDevice
        guard (try? shell.run()) != nil else { return false }
        shell.waitUntilExit()
        return shell.terminationStatus == 0
    }
}
